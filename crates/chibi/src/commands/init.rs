//! `--init`: a commented `config.toml` that only its owner can read, and the plugins that come with us. And what is said
//! to somebody who has neither.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use kit::Failure;

use crate::config::SETTINGS;
use crate::plugins::shipped::SHIPPED;
use crate::run::Run;

pub(super) fn init(run: &mut Run) -> Result<(), Failure> {
    let config = run.home.config_file();
    let mut said = vec![match write(&config, &template(), 0o600)? {
        Written::New => format!("Wrote `{}`: put your key and your model there.", config.display()),
        Written::Kept => format!("`{}` is there already and was left as it is.", config.display()),
    }];
    for shipped in &SHIPPED {
        let path = run.home.plugins().join(shipped.name);
        if write(&path, shipped.text, shipped.mode)? == Written::New {
            said.push(format!("Wrote `{}`.", path.display()));
        }
    }
    run.out.result(&said.join("\n"));
    Ok(())
}

/// For somebody who has set up nothing yet.
pub(crate) fn explain(run: &mut Run) -> Failure {
    let config = run.home.config_file();
    run.out.explain(&format!(
        "chibi asks a model on your behalf, and has to know which. Four lines in `{}` will do:\n\n  \
         api_key = \"…\"                           # from https://openrouter.ai/keys\n  \
         model = \"anthropic/claude-opus-5.5\"\n  \
         context_window_limit = 200000\n  \
         warn_threshold_percent = 75.0\n\n",
        config.display()
    ));
    Failure::new("no model is set up yet").hint(format!(
        "`{} --init` writes a file with comments; `--model script:FILE` needs no key",
        run.spoken()
    ))
}

#[derive(PartialEq, Eq)]
enum Written {
    New,
    Kept,
}

/// Never over a file that is there.
fn write(path: &Path, text: &str, mode: u32) -> Result<Written, Failure> {
    let failed = |error: io::Error| {
        let hint = format!("`ls -ld {}`", kit::places::shell_word(path.as_os_str()));
        Failure::new(format!("cannot write `{}`", path.display())).because(&error).hint(hint)
    };
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(mode).open(path) {
        Ok(mut file) => {
            file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
            Ok(Written::New)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Written::Kept),
        Err(error) => Err(failed(error)),
    }
}

/// Every setting with its default, as a comment.
fn template() -> String {
    let mut text = String::from(
        "# chibi: what holds in every context. A context's own local.toml wins over this file.\n\n\
         # The key, or where it is to be found: api_key_env = \"VARIABLE\", api_key_file = \"~/key\",\n\
         # api_key_command = \"pass show openrouter\". A server of your own may need none.\n\
         api_key = \"\"\n\
         model = \"anthropic/claude-opus-5.5\"\n\
         context_window_limit = 200000\n\
         warn_threshold_percent = 75.0\n\n\
         # Another provider: the whole address, ending in /chat/completions or /messages.\n\
         # base_url = \"http://127.0.0.1:8080/v1/chat/completions\"\n",
    );
    let written = ["model", "base_url", "context_window_limit", "warn_threshold_percent"];
    let mut table = "";
    for setting in SETTINGS.iter().filter(|setting| !written.contains(&setting.path)) {
        let (section, key) = setting.path.rsplit_once('.').unwrap_or(("", setting.path));
        if section != table {
            text.push_str(&format!("\n[{section}]\n"));
            table = section;
        } else if table.is_empty() && key == "username" {
            text.push('\n');
        }
        let value = setting.default.unwrap_or("…").replace('\'', "\"");
        text.push_str(&format!("# {key} = {value}  # {}\n", setting.about));
    }
    text.push_str("\n# A plugin that may see more of your environment, or take longer (seconds).\n");
    text.push_str("# [plugins.github]\n# env = [\"GITHUB_TOKEN\"]\n# timeout = 600\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_toml_and_names_every_setting() {
        let text = template();
        let table: toml::Table = toml::from_str(&text).unwrap();
        assert_eq!(table["context_window_limit"].as_integer(), Some(200_000));
        for setting in SETTINGS {
            let key = setting.path.rsplit('.').next().unwrap();
            assert!(text.contains(&format!("{key} = ")), "{}", setting.path);
        }
    }
}
