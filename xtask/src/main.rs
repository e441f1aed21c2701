//! The project's own chores: `cargo xtask <command>`. Needs nothing but cargo and what the command itself
//! installs. Knows how to build, test and measure the project; knows nothing of what the tools do.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for developers: it runs cargo, prints progress and reads its own environment"
)]

mod bench;
mod binaries;
mod budget;
mod corpus;
mod install;
mod shell;
mod test;

use std::process::ExitCode;

const HELP: &str = "\
usage: cargo xtask <command>

  test              what CI runs: format, lints, every test, tidiness
  soak              the long numbers: many kill points, long fuzzing, many cases
  bench [name]      measure, beside a baseline in the same run; without a name, the list
  budget            sizes of the shipped binaries and their start beside an empty `main`
  corpus [name]     fetch the pinned packages that checks on real code use
  corpus elision    hide bodies in all of them, beside a parser
  docs              write the generated pages of docs/ anew
  install [--root DIR]
                    build every binary as it is shipped and put it into DIR/bin (default: ~/.cargo)
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["test"] => test::test(),
        ["soak"] => test::soak(),
        ["bench"] => bench::list(),
        ["bench", name] => bench::run(name),
        ["budget"] => budget::check(),
        ["corpus"] => corpus::fetch(None),
        ["corpus", "elision"] => corpus::elision(),
        ["corpus", name] => corpus::fetch(Some(name)),
        ["docs"] => test::docs(),
        ["install"] => install::install(None),
        ["install", "--root", root] => install::install(Some(root)),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        _ => {
            eprint!("error: no such command: {}\n\n{HELP}", args.join(" "));
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
