// What the TypeScript compiler says about every name of a package that is read: which function or class it is.
//
// usage: node typed.js COMPILER ROOT FOLDER > truth.json
//
// Rows as in typed.py. `how` is "call" where a name is called and leads to something with a body, "use" for names that
// are not called, and for members that are only declared.
"use strict";
const path = require("node:path");
const [compiler, root, folder] = process.argv.slice(2);
const ts = require(path.resolve(compiler, "lib/typescript.js"));

const inside = (file) => {
  const name = path.relative(root, file);
  return name.startsWith(folder + path.sep) && !file.endsWith(".d.ts") ? name : undefined;
};
const files = ts.sys.readDirectory(path.resolve(root, folder), [".ts", ".tsx"]).filter(inside);
const program = ts.createProgram(files, {
  target: ts.ScriptTarget.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Node10,
  strict: true,
  noEmit: true,
  types: [],
});
const checker = program.getTypeChecker();

const text = (name) => (name && (ts.isIdentifier(name) || ts.isStringLiteral(name) || ts.isPrivateIdentifier(name)) ? name.text : undefined);

/** A function of an object that a variable holds from its beginning: it goes by both names. */
function held(node) {
  const variable = node.parent.parent;
  const of = ts.isVariableDeclaration(variable) && variable.initializer === node.parent && text(variable.name);
  return of && text(node.name) ? { name: `${of}.${text(node.name)}`, body: true } : undefined;
}

/** What a declaration is called, and whether it has a body; nothing for what is neither function nor class. */
function named(node) {
  const owner = node.parent && (ts.isClassLike(node.parent) || ts.isInterfaceDeclaration(node.parent)) ? text(node.parent.name) : undefined;
  const member = (name) => (owner && name ? `${owner}.${name}` : undefined);
  if (ts.isConstructorDeclaration(node)) return { name: owner, body: true };
  if (ts.isMethodDeclaration(node) || ts.isAccessor(node)) {
    if (ts.isObjectLiteralExpression(node.parent)) return held(node);
    return { name: member(text(node.name)), body: !!node.body };
  }
  if (ts.isMethodSignature(node)) return { name: member(text(node.name)), body: false };
  if (ts.isFunctionDeclaration(node) || ts.isClassLike(node)) return { name: text(node.name), body: true };
  if (ts.isInterfaceDeclaration(node)) return { name: text(node.name), body: false };
  if (ts.isFunctionExpression(node) && node.name) return { name: text(node.name), body: true };
  if ((ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node)) && node.initializer && ts.isFunctionLike(node.initializer)) {
    return { name: ts.isVariableDeclaration(node) ? text(node.name) : member(text(node.name)), body: true };
  }
  if (ts.isPropertyAssignment(node) && ts.isFunctionLike(node.initializer)) return held(node);
  return undefined;
}

/** The function that runs a node: a lambda without a name is part of what is around it. */
function caller(node) {
  for (let at = node.parent, below = node; at; below = at, at = at.parent) {
    if (!ts.isFunctionLike(at) || below === at.name || (at.decorators || []).includes(below)) continue;
    const found = named(at) || (at.parent && !ts.isFunctionLike(at.parent) && at.parent.initializer === at && named(at.parent));
    if (found && found.name) return found.name;
  }
  return "<module>";
}

function declarations(name) {
  let symbol = checker.getSymbolAtLocation(name);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const known = (symbol && symbol.declarations) || [];
  return ts.isPropertyAccessExpression(name.parent) && name.parent.name === name ? [...known, ...members(name.parent)] : known;
}

/** The members of that name of the object that a constant is: its declared type knows only that there is one. */
function members(access) {
  let symbol = ts.isIdentifier(access.expression) && checker.getSymbolAtLocation(access.expression);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const object = symbol && symbol.valueDeclaration && symbol.valueDeclaration.initializer;
  const isConstant = object && ts.isObjectLiteralExpression(object) && symbol.valueDeclaration.parent.flags & ts.NodeFlags.Const;
  return isConstant ? object.properties.filter((one) => text(one.name) === access.name.text) : [];
}

const rows = new Map();
function visit(source, file, node) {
  const isDeclared = node.parent && node.parent.name === node && !ts.isPropertyAccessExpression(node.parent);
  if ((ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) && !isDeclared && !ts.isPartOfTypeNode(node)) {
    const whole = ts.isPropertyAccessExpression(node.parent) && node.parent.name === node ? node.parent : node;
    const over = whole.parent;
    const called =
      ((ts.isCallExpression(over) || ts.isNewExpression(over)) && over.expression === whole) ||
      (ts.isTaggedTemplateExpression(over) && over.tag === whole);
    const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    for (const declaration of declarations(node)) {
      const to = inside(declaration.getSourceFile().fileName);
      const found = to && named(declaration);
      if (!found || !found.name || ts.isImportSpecifier(node.parent) || ts.isExportSpecifier(node.parent)) continue;
      const row = [file, line, caller(node), to, found.name, called && found.body ? "call" : "use"];
      rows.set(JSON.stringify(row), row);
    }
  }
  if (node.kind === ts.SyntaxKind.SuperKeyword && ts.isCallExpression(node.parent)) {
    const signature = checker.getResolvedSignature(node.parent);
    const declaration = signature && signature.declaration;
    const to = declaration && inside(declaration.getSourceFile().fileName);
    if (to && ts.isConstructorDeclaration(declaration)) {
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      const row = [file, line, caller(node), to, text(declaration.parent.name), "call"];
      rows.set(JSON.stringify(row), row);
    }
  }
  ts.forEachChild(node, (child) => visit(source, file, child));
}
for (const source of program.getSourceFiles()) {
  const file = inside(source.fileName);
  if (file) visit(source, file, source);
}
console.log(JSON.stringify({ edges: [...rows.values()] }));
