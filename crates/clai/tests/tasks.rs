//! Projects as people have them and as attackers make them, and what is offered of them.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test: fixtures are plain files")]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use clai::tasks::{self, Discovery, Found, Kind, Note};
use insta::assert_snapshot;
use kit::invocation::Environment;
use kit::process::Ended;
use proptest::prelude::*;
use testkit::Home;

fn look(directory: &Path) -> Found {
    Found::clone(&Discovery::default().look(directory, soon()))
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// What a project of these files offers, a line each.
fn offered(files: &[(&str, &str)]) -> String {
    let home = Home::new();
    for (name, text) in files {
        home.write(Path::new("p").join(name), text);
    }
    let found = look(&home.path().join("p"));
    let tasks = found.tasks.iter().map(|task| {
        let description = task.description.as_ref().map(|text| format!("  # {text}")).unwrap_or_default();
        format!("{}: {}{description}\n", task.kind.name(), task.command)
    });
    let notes =
        found.notes.iter().map(|note| format!("note: {note}\n").replace(&*home.path().to_string_lossy(), ""));
    tasks.chain(notes).collect()
}

const MAKEFILE: &str = r"# A makefile as people write them.
CC := gcc
CFLAGS ?= -O2 -DX=a:b
VERSION != git describe
LIBS += -lm
NAME ::= x
vpath %.c src:lib

.PHONY: all test lint docs/site $(EXTRA)
.DEFAULT_GOAL := all
.SUFFIXES: .c .o
.c.o: ; $(CC) -c $<

all: build test ## Build and test everything

## Compile the binary
build: $(OBJS) main.o
	$(CC) -o app $^
	echo not: a target

test lint: export RUST_LOG = debug
test lint: \
    build
	./run $@

docs/site: ## site
main.o: main.c defs.h
$(OBJS): %.o: %.c
$(foreach x,a b,$(x)-y): force
%.pdf: %.tex
	latex $<
install:: all
	cp app $(DESTDIR)/usr/bin; ln -s a:b c

## deploy: to the server
.PHONY: deploy
deploy:; ./deploy --to=$(HOST)

##@ Heading
one two &: three

define RULE
generated-$(1): x
endef
ifeq ($(OS),Windows_NT)
windows: all
endif
include local.mk missing.mk $(wildcard *.mk)
-include ../outside.mk
";

#[test]
fn makefiles() {
    let included = [
        ("local.mk", "clean: ## Remove all\ninclude deeper.mk\n"),
        ("deeper.mk", "deep:\n"),
        ("../outside.mk", "outside:\n"),
    ];
    assert_snapshot!(offered(&[&[("Makefile", MAKEFILE)], &included[..]].concat()), @"
    make: make all  # Build and test everything
    make: make build  # Compile the binary
    make: make test
    make: make lint
    make: make docs/site  # site
    make: make install
    make: make deploy  # to the server
    make: make one
    make: make two
    make: make windows
    make: make clean  # Remove all
    note: `/p/../outside.mk` leads out of the project
    ");
}

#[test]
fn the_makefile_that_make_prefers_is_read() {
    assert_snapshot!(offered(&[("Makefile", "a:\n"), ("makefile", "b:\n"), ("GNUmakefile", "c:\n")]), @"
    make: make c
    ");
}

#[test]
fn justfiles() {
    assert_snapshot!(offered(&[("justfile", r#"#!/usr/bin/env just
set shell := ["bash", "-c"]
version := `git describe`
text := '''
fake: recipe
'''
alias b := build

# Build it
build target='a:b' *flags: deps
    cargo build {{target}}

# needs to be told where
deploy host:
    ssh {{host}}
_hidden:
[private]
secret:
[group('ci')]
[doc("Run the tests")]
@test +args="all":
    cargo test
import 'other.just'
mod tools
set-up: build && test
"#)]), @"
    just: just build  # Build it
    just: just test  # Run the tests
    just: just set-up
    ");
}

#[test]
fn taskfiles() {
    assert_snapshot!(offered(&[("Taskfile.yml", r#"version: '3'
vars:
  tasks: {no: x}
includes:
  docs: ./docs

tasks:
  default:
    cmds: [task: build]
  build:   # the usual
    desc: "Build: the \"app\""
    cmds:
      - |
        tasks:
          fake: x
      - cmd: go build
        silent: true
    env:
      desc: not this
  'docs:serve':
    summary: >-
      folded
    desc: Serve the docs # on 8080
  hidden: { internal: true, cmds: [x] }
  secret:
    internal: true
  "start:*":
    desc: wildcard
  release:
    desc: needs VERSION
    requires:
      vars: [VERSION]
  short: go vet ./...
  list:
  - go fmt
  - echo: x
other:
  no: task
"#)]), @r#"
    taskfile: task default
    taskfile: task build  # Build: the "app"
    taskfile: task docs:serve  # Serve the docs
    taskfile: task short
    taskfile: task list
    "#);
}

const PACKAGE: &str = r#"{"name": "site", "scripts": {"build": "vite build", "prebuild": "clean", "test:unit": "vitest",
    "postinstall": "patch", "//": "comment", "x": 7, "lint": "eslint .\u001b[31m"}}"#;

#[test]
fn packages_by_their_lock_file() {
    assert_snapshot!(offered(&[("package.json", PACKAGE)]), @"
    npm: npm run build  # vite build
    npm: npm run lint  # eslint .[31m
    npm: npm run postinstall  # patch
    npm: npm run test:unit  # vitest
    ");
    for (lock, runner) in
        [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("package-lock.json", "npm")]
    {
        let rows = offered(&[("package.json", PACKAGE), (lock, "")]);
        assert!(rows.starts_with(&format!("{runner}: {runner} run build  # vite build\n")), "{rows}");
    }
    let named = r#"{"packageManager": "yarn@4.1.0", "scripts": {"a": "b"}}"#;
    assert_eq!(offered(&[("package.json", named), ("pnpm-lock.yaml", "")]), "yarn: yarn run a  # b\n");
}

#[test]
fn deno_with_comments() {
    assert_snapshot!(offered(&[("deno.jsonc", r#"{
  // the usual
  "tasks": {
    "dev": "deno run --watch main.ts", /* with // a string "x" */
    "check": {"command": "deno check", "description": "Types // all"},
    "all": {"dependencies": ["dev", "check",]},
  },
}"#)]), @"
    deno: deno task all
    deno: deno task check  # Types // all
    deno: deno task dev  # deno run --watch main.ts
    ");
}

#[test]
fn composer_scripts() {
    assert_snapshot!(offered(&[("composer.json", r#"{"scripts": {"test": "phpunit", "cs": ["a", "b"], "post-install-cmd": "x"},
        "scripts-descriptions": {"cs": "Check the style"}}"#)]), @"
    composer: composer run cs  # Check the style
    composer: composer run test  # phpunit
    ");
}

#[test]
fn cargo_aliases_and_basics() {
    assert_snapshot!(offered(&[
        (".cargo/config.toml", r#"[alias]
xtask = "run --package xtask --"
lint = ['clippy', '--all-targets']
[build]
jobs = 2
"#),
        ("Cargo.toml", "[package]\nname = 'a'\n[[bin]]\nname = 'one'\n[[bin]]\nname = 'two'\n"),
    ]), @"
    cargo: cargo lint  # clippy --all-targets
    cargo: cargo xtask  # run --package xtask --
    cargo: cargo build
    cargo: cargo check
    cargo: cargo test
    cargo: cargo run --bin one
    cargo: cargo run --bin two
    ");
    assert_eq!(
        offered(&[("Cargo.toml", "[package]\nname='a'"), ("src/main.rs", "")]).lines().last(),
        Some("cargo: cargo run")
    );
    assert_eq!(
        offered(&[("Cargo.toml", "[workspace]\nmembers=['a']")]).lines().last(),
        Some("cargo: cargo test")
    );
}

#[test]
fn mise_and_python() {
    assert_snapshot!(offered(&[
        (".mise.toml", r"[tools]
node = '20'
[tasks.build]
description = 'Build it'
run = 'cargo build'
[tasks]
lint = 'ruff .'
all = ['a', 'b']
[tasks.x]
hide = true
run = 'x'
"),
        ("pyproject.toml", r"[tool.poe.tasks]
test = 'pytest'
_private = 'x'
serve = { cmd = 'uvicorn', help = 'Run the server' }
[tool.poetry.scripts]
mycli = 'pkg.cli:main'
[tool.tox]
env_list = ['py312']
[tool.tox.env.fmt]
description = 'Format'
"),
        ("tox.ini", r"[tox]
envlist = py{310,311}, lint,
    docs   # more
skipsdist = true
[testenv]
commands = pytest
description = all
[testenv:lint]
description = Check the style
    over two lines
commands = ruff
"),
        ("noxfile.py", r#"import nox

@nox.session
def tests(session):
    """Run the tests."""

@nox.session(
    name="type-check",
    python=["3.11"],
)
@nox.parametrize('x', [1])
def mypy(session):
    pass

def helper(x):
    pass
"#),
    ]), @"
    mise: mise run all  # a b
    mise: mise run build  # Build it
    mise: mise run lint  # ruff .
    poe: poe serve  # Run the server
    poe: poe test  # pytest
    poetry: poetry run mycli  # pkg.cli:main
    tox: tox -e fmt  # Format
    tox: tox -e py312
    tox: tox -e lint  # Check the style
    tox: tox -e docs
    nox: nox -s tests  # Run the tests.
    nox: nox -s type-check
    ");
}

#[test]
fn rakefiles() {
    assert_snapshot!(offered(&[("Rakefile", r#"require 'rake'
desc "Run the tests"
task :test => [:build] do
  sh "x"
end
task build: %w[a b]
task :default
task "quoted name", [:arg] do
end
namespace :db do
  desc 'Migrate'
  task(:migrate) { |t| run }
  namespace "seed" do
    task :all
  end
  task reset: :migrate do
    if x
    end
  end
end
task "gen-#{x}"
task name
multitask :last
"#)]), @"
    rake: rake test  # Run the tests
    rake: rake build
    rake: rake default
    rake: rake 'quoted name'
    rake: rake db:migrate  # Migrate
    rake: rake db:seed:all
    rake: rake db:reset
    rake: rake last
    ");
}

#[test]
fn gradle_builds() {
    assert_snapshot!(offered(&[("gradlew", ""), ("build.gradle", r#"plugins {
    id 'application'
    id "org.jetbrains.kotlin.jvm" version "2.0"
}
// task commented
task hello {
    description = 'Says hello'
}
task copyDocs(type: Copy) { }
tasks.register('deploy', Exec) {
    description "Ships it"
}
"#)]), @"
    gradle: ./gradlew hello  # Says hello
    gradle: ./gradlew copyDocs
    gradle: ./gradlew deploy  # Ships it
    gradle: ./gradlew build
    gradle: ./gradlew test
    gradle: ./gradlew check
    gradle: ./gradlew run
    ");
    assert_snapshot!(offered(&[("build.gradle.kts", r#"plugins { }
val zip by tasks.registering(Zip::class)
tasks.register<Copy>("stage") { description = "Stages" }
tasks.register("gen-${x}")
"#)]), @"
    gradle: gradle zip
    gradle: gradle stage  # Stages
    ");
}

#[test]
fn compose_and_pre_commit() {
    assert_snapshot!(offered(&[
        ("compose.yaml", r"x-base: &base
  image: x
services:
  web:
    <<: *base
    ports: ['80:80']
    healthcheck: {test: [CMD, x]}
  db: # data
    image: postgres
  $bad name: {}
volumes:
  data:
"),
        (".pre-commit-config.yaml", r"repos:
- repo: https://x
  rev: v1
  hooks:
  - id: ruff
    args: [--fix]
  - id: 'mypy'
-   repo: local
    hooks:
      - id: own
        name: Our own check
        entry: bash -c 'id: x'
"),
    ]), @"
    compose: docker compose up  # start all services
    compose: docker compose up web
    compose: docker compose logs -f web
    compose: docker compose up db
    compose: docker compose logs -f db
    pre-commit: pre-commit run  # all hooks on what is staged
    pre-commit: pre-commit run --all-files ruff
    pre-commit: pre-commit run --all-files mypy
    pre-commit: pre-commit run --all-files own  # Our own check
    ");
}

/// Names that would do something if they were not quoted.
const EVIL: &[&str] = &[
    "x; touch PWNED",
    "$(touch PWNED)",
    "`touch PWNED`",
    "a' ; touch PWNED ; '",
    "\\'; touch PWNED #",
    "a && touch PWNED",
    "a\\",
    "!!",
    "~",
    "*",
    "{a,b}",
    "^a^b",
    "a b",
    "# x",
    "\"; touch PWNED; \"",
];

#[test]
fn evil_names_mean_only_themselves_in_every_shell() {
    let home = Home::new();
    let scripts: serde_json::Map<_, _> = EVIL.iter().map(|name| ((*name).to_owned(), "x".into())).collect();
    home.write("package.json", serde_json::json!({ "scripts": scripts }).to_string());
    let found = look(home.path());
    assert_eq!(found.tasks.len(), EVIL.len());
    for (shell, define) in [
        ("bash", "npm() { printf '%s|' \"$@\"; };"),
        ("zsh", "npm() { printf '%s|' \"$@\"; };"),
        ("fish", "function npm; printf '%s|' $argv; end;"),
    ] {
        for task in &found.tasks {
            let output =
                home.run(home.command(shell).args(["-c", &format!("{define} {}", task.command)])).ok();
            assert_eq!(output.stdout, format!("run|{}|", task.name), "{shell}: {}", task.command);
        }
    }
    assert!(!home.path().join("PWNED").exists());
}

#[test]
fn names_that_are_options_or_drive_a_terminal_are_not_offered() {
    let names = [
        "-g",
        "--eval=x",
        "a=b",
        "=ls",
        "+nightly",
        "",
        "a\nb",
        "a\u{1b}[2J",
        "\u{202e}x",
        "a\0b",
        "\u{200b}",
        "a\tb",
        &"x".repeat(201),
    ];
    let scripts: serde_json::Map<_, _> = names.iter().map(|name| ((*name).to_owned(), "x".into())).collect();
    assert_eq!(offered(&[("package.json", &serde_json::json!({ "scripts": scripts }).to_string())]), "");
    assert_eq!(offered(&[("Makefile", "-f: x\na\u{1b}b: y\nx=y: z\nFOO\\=1: a\n")]), "");
}

#[test]
fn a_makefile_target_that_removes_the_home_is_offered_as_words_that_do_not() {
    // Make itself reads three targets here.
    let rows = offered(&[
        ("Makefile", "x; rm -rf ~: all\n"),
        ("package.json", r#"{"scripts": {"x; rm -rf ~": ""}}"#),
    ]);
    assert_eq!(rows, "make: make 'x;'\nmake: make rm\nnpm: npm run 'x; rm -rf ~'\n");
}

#[test]
fn a_package_of_50_megabytes_is_not_read() {
    let home = Home::new();
    let path = home.path().join("package.json");
    File::create(&path).unwrap().set_len(50 << 20).unwrap();
    let found = look(home.path());
    assert_eq!(found.notes, [Note::TooLarge { path, bytes: 50 << 20 }]);
    assert_eq!(found.notes[0].to_string().split(" is ").last(), Some("not read: 52,428,800 bytes"));
}

#[test]
fn files_outside_the_project_are_not_followed() {
    let home = Home::new();
    home.write("outside/Makefile", "outside:\n");
    home.write("p/real.mk", "inside:\n");
    home.write("p/justfile", "build:\n");
    symlink("../outside/Makefile", home.path().join("p/Makefile")).unwrap();
    let found = look(&home.path().join("p"));
    assert_eq!(found.tasks.len(), 1);
    assert_eq!(found.notes, [Note::Elsewhere { path: home.path().join("p/Makefile") }]);
    fs::remove_file(home.path().join("p/Makefile")).unwrap();
    symlink("real.mk", home.path().join("p/Makefile")).unwrap();
    symlink(home.path().join("p"), home.path().join("link")).unwrap();
    let found = look(&home.path().join("link"));
    assert_eq!((found.tasks[0].name.as_str(), found.notes.len()), ("inside", 0));
}

#[test]
fn what_is_no_file_is_passed_over() {
    let home = Home::new();
    fs::create_dir(home.path().join("Makefile")).unwrap();
    assert!(home.command("mkfifo").arg(home.path().join("justfile")).status().unwrap().success());
    symlink("package.json", home.path().join("package.json")).unwrap();
    home.write("deno.json", "\u{feff}{\"tasks\": {\"a\": \"b\"}}");
    let found = look(home.path());
    assert_eq!((found.tasks.len(), found.notes), (1, vec![]));
    assert_eq!(look(&home.path().join("none")), Found::default());
}

#[test]
fn broken_files_are_noted_and_the_others_still_read() {
    let rows = offered(&[
        ("package.json", "{"),
        ("Cargo.toml", "["),
        ("pyproject.toml", "[a]\n[a]"),
        ("deno.json", "[1]"),
        ("justfile", "a:"),
    ]);
    assert_snapshot!(rows, @"
    just: just a
    note: `/p/package.json`: EOF while parsing an object at line 1 column 1
    note: `/p/Cargo.toml`: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
    note: `/p/pyproject.toml`: duplicate key
    ");
    assert_eq!(offered(&[("package.json", &"[".repeat(100_000))]).lines().count(), 1);
}

#[test]
fn there_is_a_cap_on_tasks_and_on_what_is_said_of_them() {
    let rules: String = (0..5000).map(|index| format!("t{index}: ## {}\n", "x".repeat(1000))).collect();
    let home = Home::new();
    home.write("Makefile", &rules[..1_000_000]);
    let found = look(home.path());
    assert_eq!(found.tasks.len(), 500);
    assert_eq!(found.notes, [Note::TooMany { path: home.path().join("Makefile") }]);
    let said: Vec<_> =
        found.tasks.iter().filter_map(|task| task.description.as_deref()).map(str::len).collect();
    assert!(said.iter().all(|bytes| *bytes == 200) && said.iter().sum::<usize>() <= 100 * 1024);
}

#[test]
fn a_hostile_megabyte_costs_little_time_and_no_stack() {
    const MEGABYTE: usize = 1 << 20;
    let fill = |unit: &str| unit.repeat(MEGABYTE / unit.len());
    let deeper =
        |line: &str| -> String { (0..1400).map(|depth| format!("{}{line}\n", " ".repeat(depth))).collect() };
    let long_line =
        format!("{} ## {}\n", "t ".repeat(MEGABYTE / 4), "x".repeat(MEGABYTE / 3)).replacen(" ##", ": ##", 1);
    for (file, text) in [
        ("Makefile", long_line),
        ("Makefile", fill("a \\\n")),
        ("Makefile", fill("$(")),
        ("Makefile", fill("a: ## b\n")),
        ("justfile", fill("a(")),
        ("justfile", fill("a b=`:\n")),
        ("Taskfile.yml", format!("tasks:\n{}", deeper("a:"))),
        ("Taskfile.yml", fill("- ")),
        ("Taskfile.yml", fill("a: ")),
        ("package.json", fill("[")),
        ("package.json", fill("{\"a\":")),
        ("deno.jsonc", fill("/*")),
        ("deno.jsonc", fill(",/**/")),
        ("Cargo.toml", format!("{}a = 1", &fill("a.")[8..])),
        ("Cargo.toml", format!("a = {}", &fill("[")[8..])),
        ("Cargo.toml", format!("a = {}", &fill("{a=")[9..])),
        ("Cargo.toml", fill("[a.a.a.a.a.a.a.a]\n")),
        ("Rakefile", fill("namespace :a do\n task :b\n")),
        ("noxfile.py", fill("@nox.session\n")),
        ("tox.ini", fill("[testenv:a]\n")),
        ("build.gradle", fill("description description ")),
    ] {
        let home = Home::new();
        assert!(text.len() > MEGABYTE / 2);
        home.write(file, &text[..text.len().min(MEGABYTE)]);
        let found = look(home.path());
        // What is quadratic takes minutes, and is told to have run out of time.
        let whole = |note: &Note| !matches!(note, Note::TooLarge { .. } | Note::OutOfTime);
        assert!(found.notes.iter().all(whole), "{file} {:?}: {:?}", &text[..8], found.notes);
    }
}

#[test]
fn a_look_without_time_goes_on_where_the_last_one_stopped() {
    let home = Home::new();
    home.write("Makefile", "all:\n");
    home.write("justfile", "build:\n");
    let mut discovery = Discovery::default();
    let mut look = || Found::clone(&discovery.look(home.path(), Instant::now()));
    let (first, second) = (look(), look());
    assert_eq!((first.tasks.len(), first.notes), (1, vec![Note::OutOfTime]));
    assert_eq!((second.tasks.len(), second.notes), (2, vec![Note::OutOfTime]));
    let last = (0..100).map(|_| look()).find(|found| found.notes.is_empty()).expect("an end is reached");
    assert_eq!(last.tasks.len(), 2);
    assert_eq!(discovery.readings(), 1);
}

#[test]
fn files_are_read_again_only_when_one_of_them_changed() {
    let home = Home::new();
    let mut discovery = Discovery::default();
    let mut names = |readings| {
        let found = discovery.look(home.path(), soon());
        assert_eq!(discovery.readings(), readings);
        found.tasks.iter().map(|task| task.command.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(1), "");
    assert_eq!(names(1), "");
    home.write("Makefile", "one:\ninclude x.mk\n");
    assert_eq!(names(2), "make one");
    assert_eq!(names(2), "make one");
    home.write("x.mk", "two:\n");
    assert_eq!(names(3), "make one make two");
    home.write("x.mk", "second:\n");
    assert_eq!(names(4), "make one make second");
    home.write("package.json", r#"{"scripts": {"a": "b"}}"#);
    assert_eq!(names(5), "make one make second npm run a");
    home.write("yarn.lock", "");
    assert_eq!(names(6), "make one make second yarn run a");
    fs::remove_file(home.path().join("Makefile")).unwrap();
    assert_eq!(names(7), "yarn run a");
    assert_eq!(names(7), "yarn run a");
}

#[test]
fn make_itself_knows_the_same_targets_and_those_that_only_it_can_know() {
    let home = Home::new();
    let makefile = "NAMES = x y
all: build
build: main.o
main.o:
.PHONY: all site.d
site.d:
%.z: %.y
$(NAMES): all
RAN := $(shell echo ran > ran)
again: ; +touch again
";
    home.write("Makefile", makefile);
    let env = Environment::of(home.environment());
    let make = kit::process::find("make", &env).expect("make is installed");
    let outcome = tasks::database(&make, home.path(), &env, Duration::from_secs(20)).run().unwrap();
    assert!(matches!(outcome.ended, Ended::Exited(_)));
    let mut asked: Vec<_> =
        tasks::from_database(&outcome.stdout.text()).unwrap().into_iter().map(|task| task.command).collect();
    asked.sort();
    assert_eq!(asked, ["make again", "make all", "make build", "make site.d", "make x", "make y"]);
    // Why it is not the default.
    assert!(home.path().join("ran").exists() && !home.path().join("again").exists());
    let mut read: Vec<_> = look(home.path()).tasks.into_iter().map(|task| task.command).collect();
    read.sort();
    assert_eq!(read, ["make again", "make all", "make build", "make site.d"]);
    assert_eq!(tasks::from_database("# Files\nall: x\n"), None);
}

/// How many words of ours stand before the one of theirs.
fn words_of_ours(kind: Kind, command: &str) -> usize {
    match kind {
        Kind::Make | Kind::Just | Kind::Taskfile | Kind::Poe | Kind::Rake | Kind::Gradle => 1,
        Kind::Cargo if command.starts_with("cargo run --bin ") => 3,
        Kind::Cargo => 1,
        Kind::Compose if command == "docker compose up" => 2,
        Kind::Compose => 3 + usize::from(command.starts_with("docker compose logs")),
        Kind::PreCommit if command == "pre-commit run" => 1,
        Kind::PreCommit => 3,
        _ => 2,
    }
}

/// A name in every file that takes names.
fn everywhere(name: &str) -> Vec<(&'static str, String)> {
    let json = serde_json::to_string(name).unwrap();
    let script = format!("{{\"scripts\": {{{json}: \"x\"}}, \"tasks\": {{{json}: \"x\"}}}}");
    let toml = format!(
        "[alias]
{json} = 'x'
[tasks]
{json} = 'x'
[tool.poe.tasks]
{json} = 'x'
[tool.poetry.scripts]
{json} = 'x'
[[bin]]
name = {json}
[[bin]]
name = 'b'
[env.{json}]
"
    );
    vec![
        ("Makefile", format!("{name}: x\n.PHONY: {name}\n")),
        ("justfile", format!("{name}:\n")),
        ("Taskfile.yml", format!("tasks:\n  {name}:\n  {json}:\n  '{name}':\n")),
        ("package.json", script.clone()),
        ("deno.json", script.clone()),
        ("composer.json", script),
        (".cargo/config.toml", toml.clone()),
        ("Cargo.toml", toml.clone()),
        ("mise.toml", toml.clone()),
        ("pyproject.toml", toml.clone()),
        ("tox.toml", toml),
        ("tox.ini", format!("[testenv:{name}]\n[tox]\nenvlist = {name}\n")),
        ("noxfile.py", format!("@nox.session(name='{name}')\ndef {name}(session):\n")),
        ("Rakefile", format!("namespace '{name}' do\ntask '{name}'\nend\n")),
        ("build.gradle", format!("task {name}\ntasks.register('{name}')\n")),
        ("compose.yaml", format!("services:\n  {name}:\n  {json}:\n")),
        (".pre-commit-config.yaml", format!("repos:\n- hooks:\n  - id: {name}\n  - id: {json}\n")),
    ]
}

fn assert_words(found: &Found) {
    for task in &found.tasks {
        let words = shlex::split(&task.command).expect("a command has closed quotes");
        assert_eq!(words.len(), words_of_ours(task.kind, &task.command) + 1, "{task:?}");
        let theirs = words.last().unwrap();
        assert!(task.name.ends_with(theirs) && !theirs.starts_with('-'), "{task:?}");
        let shown = [Some(&task.name), Some(&task.command), task.description.as_ref()];
        assert!(shown.iter().flatten().all(|text| kit::text::plain(text) == **text), "{task:?}");
    }
}

#[test]
fn an_honest_name_is_found_in_every_kind_of_file() {
    let home = Home::new();
    for (file, text) in everywhere("site") {
        home.write(file, text);
    }
    let found = look(home.path());
    assert_eq!(found.notes, []);
    let mut kinds: Vec<_> = found.tasks.iter().map(|task| task.kind).collect();
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds.len(), 16, "{kinds:?}");
    assert_words(&found);
}

/// What looks a little like a line of any of the formats.
const LINE: &str = concat!(
    r"[ \t]{0,4}[-@\[]{0,2}",
    "(tasks|task|services|repos|hooks|id|desc|namespace|def|include|x)?",
    r#"[ :=#'"({\[]{0,3}([ -~]|.){0,12}[\]})'":]{0,3}"#
);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_name_becomes_more_than_one_word(name in "([ -~]|[;&|<>$`'\"\\\\ !*?~#=%^{}\\[\\]()\t\n]|\\PC|.){1,12}") {
        let home = Home::new();
        for (file, text) in everywhere(&name) {
            home.write(file, text);
        }
        assert_words(&look(home.path()));
    }

    #[test]
    fn no_file_becomes_more_than_its_names(
        lines in proptest::collection::vec(LINE, 0..30),
    ) {
        let home = Home::new();
        for (file, _) in everywhere("") {
            home.write(file, lines.join("\n"));
        }
        assert_words(&look(home.path()));
    }

    #[test]
    fn commented_json_reads_like_the_same_without_comments(name in "[a-z/*,\"]{1,8}", comment in "[a-z /\"',]{0,8}") {
        let key = serde_json::to_string(&name).unwrap();
        let plain = format!("{{\"tasks\": {{{key}: \"x\"}}}}");
        let commented = format!("/*{comment}*/{{\"tasks\": // {comment}\n{{{key}:\n/**/\"x\", /* , */ }},}} //{comment}");
        prop_assert_eq!(offered(&[("deno.json", &plain)]), offered(&[("deno.json", &commented)]));
    }
}
