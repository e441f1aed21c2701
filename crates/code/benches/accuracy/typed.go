// What Go's own type checker says about every call and name of a folder's packages: which function it is.
//
// usage: go run typed.go ROOT FOLDER > truth.json
//
// Rows as in typed.py. `how` is "call" where a name is called and leads to a function with a body, "use" otherwise.
package main

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var (
	files = token.NewFileSet()
	rows  = [][]any{}
	root  string
)

func main() {
	root = os.Args[1]
	below := importer.ForCompiler(files, "source", nil)
	err := filepath.WalkDir(filepath.Join(root, os.Args[2]), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if entry.Name() == "testdata" {
			return filepath.SkipDir
		}
		check(path, below)
		return nil
	})
	if err != nil {
		panic(err)
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"edges": rows})
}

// check reads the files of one folder that are built on this machine, without tests.
func check(folder string, below types.Importer) {
	chosen, err := build.ImportDir(folder, 0)
	if err != nil {
		return
	}
	var parsed []*ast.File
	for _, name := range chosen.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(folder, name), nil, 0)
		if err != nil {
			panic(err)
		}
		parsed = append(parsed, file)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	config := types.Config{Importer: below, Error: func(error) {}}
	config.Check(folder, files, parsed, &info)
	for _, file := range parsed {
		for _, declared := range file.Decls {
			caller := "<module>"
			if function, ok := declared.(*ast.FuncDecl); ok {
				caller = function.Name.Name
				if function.Recv != nil && len(function.Recv.List) == 1 {
					caller = owner(function.Recv.List[0].Type) + "." + caller
				}
			}
			uses(declared, caller, &info)
		}
	}
}

func uses(inside ast.Node, caller string, info *types.Info) {
	called := map[*ast.Ident]bool{}
	ast.Inspect(inside, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch callee := ast.Unparen(call.Fun).(type) {
		case *ast.Ident:
			called[callee] = true
		case *ast.SelectorExpr:
			called[callee.Sel] = true
		case *ast.IndexExpr:
			if name, ok := callee.X.(*ast.Ident); ok {
				called[name] = true
			}
		}
		return true
	})
	ast.Inspect(inside, func(node ast.Node) bool {
		name, ok := node.(*ast.Ident)
		if !ok {
			return true
		}
		function, ok := info.Uses[name].(*types.Func)
		if !ok {
			return true
		}
		function = function.Origin()
		place := files.Position(function.Pos())
		file, inside := relative(place.Filename)
		if !inside {
			return true
		}
		target, how := function.Name(), "use"
		if called[name] {
			how = "call"
		}
		if receiver := function.Signature().Recv(); receiver != nil {
			kind := receiver.Type()
			if pointer, ok := kind.(*types.Pointer); ok {
				kind = pointer.Elem()
			}
			named, ok := kind.(*types.Named)
			if !ok {
				return true
			}
			if types.IsInterface(named) {
				how = "use"
			}
			target = named.Obj().Name() + "." + target
		}
		at := files.Position(name.Pos())
		from, _ := relative(at.Filename)
		rows = append(rows, []any{from, at.Line, caller, file, target, how})
		return true
	})
}

// relative is a file's name from the root, and whether it is in the folder that is asked for.
func relative(file string) (string, bool) {
	name, err := filepath.Rel(root, file)
	return name, err == nil && strings.HasPrefix(name, os.Args[2]+"/")
}

func owner(receiver ast.Expr) string {
	switch kind := receiver.(type) {
	case *ast.StarExpr:
		return owner(kind.X)
	case *ast.IndexExpr:
		return owner(kind.X)
	case *ast.IndexListExpr:
		return owner(kind.X)
	case *ast.Ident:
		return kind.Name
	}
	return ""
}
