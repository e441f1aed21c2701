//! `agent config`: writes the file with every setting, or says who is asked and which setting decided it.

use kit::{Exit, Failure, Invocation, Places, places};
use llm::KeySource;
use llm::provider::{Resolved, Target};
use store::{Durability, replace};

use crate::cli::{self, Config};
use crate::{config, provider};

pub(super) fn run(invocation: &mut Invocation, action: Config) -> Result<Exit, Failure> {
    let places = invocation.places()?;
    match action {
        Config::Init => init(invocation, &places),
        Config::Show => show(invocation, &places),
    }
}

fn init(invocation: &mut Invocation, places: &Places) -> Result<Exit, Failure> {
    let path = config::path(places);
    if path.exists() {
        return Err(Failure::new(format!("`{}` is already there", path.display()))
            .hint(format!("edit it, or `{} config show`", invocation.program.spoken())));
    }
    let folder = path.parent().expect("the file lies in a directory");
    let cannot = |error| kit::invocation::place_failure("cannot make a place for the settings", &error);
    places::private_dir(folder, places.uid).map_err(cannot)?;
    replace(&path, config::template().as_bytes(), Durability::Fsync)
        .map_err(|error| Failure::new(format!("cannot write `{}`", path.display())).because(&error))?;
    let spoken = invocation.program.spoken();
    invocation.print(&format!(
        "wrote {}\n\nNext:  {spoken} config show    who is asked, and why\n",
        places.tilde(&path)
    ))?;
    Ok(Exit::Done)
}

fn show(invocation: &mut Invocation, places: &Places) -> Result<Exit, Failure> {
    let resolved = provider::resolved(&cli::Provider::default(), &invocation.env, places)?;
    let config = config::load(places)?;
    let mut lines = told(&resolved);
    let path = config::path(places);
    let there = if path.exists() { "" } else { "  (not there: `config init` writes it)" };
    lines.push_str(&format!("settings    {}{there}\n", places.tilde(&path)));
    lines.push_str(&format!("hooks       {}\nservers     {}\n", config.hooks.len(), config.servers.len()));
    for warning in resolved.warnings.iter().chain(&config.warnings) {
        lines.push_str(&format!("warning: {}\n", kit::text::plain(warning)));
    }
    invocation.print(&lines).map(|()| Exit::Done)
}

fn told(resolved: &Resolved) -> String {
    let target = match &resolved.target.value {
        Target::Http(endpoint) => endpoint.to_string(),
        Target::Script(path) => format!("script {}", path.display()),
    };
    let key = match &resolved.key.value {
        KeySource::None => "none".to_owned(),
        KeySource::Known(_) => "there".to_owned(),
        KeySource::Variable(name) => format!("from ${name}"),
        KeySource::File(path) => format!("from {}", path.display()),
        KeySource::Command(_) => "from a command".to_owned(),
    };
    let rows = [
        ("provider", resolved.name.value.word().to_owned(), resolved.name.origin.to_string()),
        ("model", resolved.model.value.clone(), resolved.model.origin.to_string()),
        ("address", target, resolved.target.origin.to_string()),
        ("key", key, resolved.key.origin.to_string()),
    ];
    rows.iter()
        .map(|(name, value, origin)| {
            format!("{name:<11} {}  ({})\n", kit::text::plain(value), kit::text::plain(origin))
        })
        .collect()
}
