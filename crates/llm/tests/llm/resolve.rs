//! Who is asked when several layers of settings have a say.

use std::path::PathBuf;

use kit::invocation::Environment;
use llm::provider::{
    Auth, BaseUrl, ConfigFile, Endpoint, Layer, Name, Origin, ResolveError, Resolved, Target, UrlError,
    resolve,
};
use llm::{Key, KeySource};

struct Given<'a> {
    provider: Option<&'a str>,
    model: Option<&'a str>,
    api_url: Option<&'a str>,
    env: &'a [(&'a str, &'a str)],
    scrimp: &'a str,
    chibi: &'a str,
    mode: u32,
}

const NOTHING: Given<'_> =
    Given { provider: None, model: None, api_url: None, env: &[], scrimp: "", chibi: "", mode: 0o100_600 };

impl Given<'_> {
    fn resolved(&self) -> Result<Resolved, ResolveError> {
        let file = |path: &str, text: &str| ConfigFile {
            path: PathBuf::from(path),
            text: text.to_owned(),
            mode: self.mode,
        };
        let mut layers = vec![Layer::flags(self.provider, self.model, self.api_url)?];
        layers.extend(Layer::environment(&Environment::of(self.env.iter().copied()))?);
        layers.push(Layer::scrimp_file(&file("/s.toml", self.scrimp))?);
        layers.push(Layer::chibi_file(&file("/c.toml", self.chibi))?);
        resolve(&layers)
    }

    /// Provider, address, key and model, each with its origin.
    fn told(&self) -> String {
        let found = self.resolved().unwrap_or_else(|error| panic!("{error}"));
        let target = match &found.target.value {
            Target::Http(endpoint) => endpoint.to_string(),
            Target::Script(path) => format!("script {}", path.display()),
        };
        let key = match &found.key.value {
            KeySource::Known(_) => "a key".to_owned(),
            other => format!("{other:?}"),
        };
        format!(
            "{} by {} | {target} by {} | {key} by {} | {} by {}",
            found.name.value.word(),
            found.name.origin,
            found.target.origin,
            found.key.origin,
            found.model.value,
            found.model.origin
        )
    }

    fn refused(&self) -> String {
        self.resolved().expect_err("it is refused").to_string()
    }
}

#[test]
fn without_any_setting_it_is_anthropic_without_a_key() {
    assert_eq!(
        NOTHING.told(),
        "anthropic by default | https://api.anthropic.com/v1/messages by default | None by default | claude-opus-5-5 by default"
    );
    let found = NOTHING.resolved().unwrap();
    assert_eq!((found.auth.value, found.anthropic_version.value.as_str()), (Auth::XApiKey, "2026-10-21"));
}

#[test]
fn flags_win_over_the_environment_and_that_over_files() {
    let scrimp = "[provider]\nname = 'anthropic'\nmodel = 'file'\napi_url = 'http://file:1'\napi_key = 'k'";
    let given = Given { scrimp, ..NOTHING };
    assert_eq!(
        given.told(),
        "anthropic by file (/s.toml) | http://file:1/v1/messages by file (/s.toml) | a key by file (/s.toml) | file by file (/s.toml)"
    );
    let env = &[("ANTHROPIC_API_KEY", "e"), ("ANTHROPIC_BASE_URL", "http://env:1")];
    let given = Given { env, ..given };
    assert_eq!(
        given.told(),
        "anthropic by file (/s.toml) | http://env:1/v1/messages by environment (ANTHROPIC_BASE_URL) | a key by environment (ANTHROPIC_API_KEY) | file by file (/s.toml)"
    );
    let given =
        Given { provider: Some("anthropic"), model: Some("flag"), api_url: Some("http://flag:1"), ..given };
    assert_eq!(
        given.told(),
        "anthropic by flag | http://flag:1/v1/messages by flag | a key by environment (ANTHROPIC_API_KEY) | flag by flag"
    );
}

#[test]
fn a_key_never_goes_to_a_provider_it_was_not_meant_for() {
    let env = &[("OPENAI_API_KEY", "o"), ("ANTHROPIC_API_KEY", "a")];
    let chibi = "api_key = 'c'\nmodel = 'x'\nbase_url = 'https://openrouter.ai/api/v1/chat/completions'";
    let key = |provider| {
        let given = Given { provider: Some(provider), model: Some("m"), env, chibi, ..NOTHING };
        given.resolved().unwrap().key.value
    };
    let known = |text| KeySource::Known(Key::new(text).unwrap());
    assert_eq!([key("openai"), key("anthropic"), key("openrouter")], [known("o"), known("a"), known("c")]);
}

#[test]
fn a_key_in_the_environment_does_not_go_to_a_server_that_a_file_names() {
    let env = &[("OPENAI_API_KEY", "o"), ("ANTHROPIC_API_KEY", "a")];
    let chibi = "model = 'm'\nbase_url = 'https://models.example/v1/chat/completions'";
    let given = Given { provider: Some("openai"), env, chibi, ..NOTHING };
    let found = given.resolved().unwrap();
    assert_eq!(found.key.value, KeySource::None);
    assert_eq!(
        found.warnings,
        ["OPENAI_API_KEY is not sent to models.example: name a key beside its address"]
    );
    let public = "model = 'm'\nbase_url = 'https://api.openai.com/v1/chat/completions'";
    let known = KeySource::Known(Key::new("o").unwrap());
    assert_eq!(Given { chibi: public, ..given }.resolved().unwrap().key.value, known);
    let typed = Given { api_url: Some("https://models.example/v1"), chibi: "model = 'm'", ..given };
    assert_eq!(typed.resolved().unwrap().key.value, known);
}

#[test]
fn a_key_in_the_environment_chooses_its_provider_only_if_nobody_else_does() {
    let openrouter = &[("OPENROUTER_API_KEY", "k")];
    let name = |given: Given<'_>| given.resolved().unwrap().name.value;
    assert_eq!(name(Given { env: openrouter, model: Some("m"), ..NOTHING }), Name::OpenRouter);
    let named = Given { env: openrouter, scrimp: "[provider]\nname = 'openai'\nmodel = 'm'", ..NOTHING };
    assert_eq!(name(named), Name::OpenAi);
    let chibi = "api_key = 'c'\nmodel = 'x'";
    let both = &[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")];
    assert_eq!(name(Given { env: both, chibi, ..NOTHING }), Name::OpenRouter, "two keys choose nobody");
    assert_eq!(name(Given { env: both, ..NOTHING }), Name::Anthropic);
    let one = &[("ANTHROPIC_API_KEY", "k")];
    assert_eq!(
        name(Given { env: one, chibi, ..NOTHING }),
        Name::Anthropic,
        "the environment stands above chibi's file"
    );
}

#[test]
fn chibis_base_url_is_a_whole_endpoint_and_tells_the_provider() {
    let told = |chibi| Given { chibi, ..NOTHING }.told();
    let local = told("base_url = 'http://localhost:8080/v1/chat/completions'\nmodel = 'm'\napi_key = ''");
    assert_eq!(
        local,
        "openai by file (/c.toml) | http://localhost:8080/v1/chat/completions by file (/c.toml) | None by default | m by file (/c.toml)"
    );
    let native = told("base_url = 'https://api.anthropic.com/v1/messages'\nmodel = 'm'\napi_key_env = 'K'");
    assert!(
        native.starts_with("anthropic by file (/c.toml) | https://api.anthropic.com/v1/messages"),
        "{native}"
    );
    assert!(native.contains("Variable(\"K\") by file (/c.toml)"), "{native}");
    let seed = told("api_key = 'k'\nmodel = 'm'");
    assert!(seed.starts_with(
        "openrouter by file (/c.toml) | https://openrouter.ai/api/v1/chat/completions by default"
    ));
}

#[test]
fn chibis_base_url_that_looks_like_a_base_gets_a_warning() {
    let given = Given { chibi: "base_url = 'http://localhost:1234/v1'\nmodel = 'm'", ..NOTHING };
    let warnings = given.resolved().unwrap().warnings;
    assert!(warnings[0].contains("`http://localhost:1234/v1` ends neither in"), "{warnings:?}");
}

#[test]
fn bases_become_endpoints_and_each_form_is_refused_where_the_other_belongs() {
    let endpoint = |provider, url| {
        let given = Given { provider: Some(provider), model: Some("m"), api_url: Some(url), ..NOTHING };
        match given.resolved().unwrap().target.value {
            Target::Http(endpoint) => endpoint.to_string(),
            Target::Script(_) => panic!(),
        }
    };
    for (provider, base, whole) in [
        ("anthropic", "https://proxy/", "https://proxy/v1/messages"),
        ("anthropic", "https://proxy/v1", "https://proxy/v1/messages"),
        ("anthropic", "https://proxy/anthropic/", "https://proxy/anthropic/v1/messages"),
        ("openai", "http://localhost:11434", "http://localhost:11434/v1/chat/completions"),
        ("openai", "http://localhost:11434/v1/", "http://localhost:11434/v1/chat/completions"),
        ("openai", "https://x/openai/v4", "https://x/openai/v4/chat/completions"),
        ("openrouter", "https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"),
    ] {
        assert_eq!(endpoint(provider, base), whole);
    }
    let whole = Given { api_url: Some("https://x/v1/chat/completions"), ..NOTHING };
    assert_eq!(
        whole.refused(),
        "flag: `https://x/v1/chat/completions` is a whole endpoint; its base is `https://x/v1`"
    );
    for wrong in ["x", "ftp://x/", "http://", "/v1", "", "https:///v1"] {
        assert!(BaseUrl::new(wrong).is_err() && Endpoint::new(wrong).is_err(), "{wrong}");
    }
    assert_eq!(Endpoint::new("https://me:secret@x/"), Err(UrlError::Credentials));
    assert!(!UrlError::Credentials.to_string().contains("secret"));
    assert!(matches!(BaseUrl::new("https://x/?a=b"), Err(UrlError::Query(_))));
    assert_eq!(Endpoint::new("https://x/chat/completions?api-version=1").unwrap().host(), "x");
}

#[test]
fn a_script_takes_the_place_of_a_server() {
    let env = &[("ANTHROPIC_API_KEY", "k")];
    let told = Given { model: Some("script:/tmp/x.sse"), env, ..NOTHING }.told();
    assert!(told.contains("| script /tmp/x.sse by flag | None by default |"), "{told}");
}

#[test]
fn what_is_misspelt_is_told_with_what_was_meant() {
    let Err(ResolveError::UnknownProvider { typed, nearest }) =
        (Given { provider: Some("antropic"), ..NOTHING }).resolved()
    else {
        panic!()
    };
    assert_eq!((typed.as_str(), nearest), ("antropic", Some("anthropic")));
    let given = Given { scrimp: "[provider]\nmodle = 'x'", ..NOTHING };
    let warnings = given.resolved().unwrap().warnings;
    assert_eq!(warnings, ["`/s.toml`: unknown key `provider.modle`; did you mean `model`?"]);
    assert_eq!(
        Given { scrimp: "[provider]\nmodel = 5", ..NOTHING }.refused(),
        "`/s.toml`: `model` is not a text"
    );
    let two = "[provider]\napi_key = 'a'\napi_key_env = 'B'";
    assert!(Given { scrimp: two, ..NOTHING }.refused().contains("only one of"));
    assert!(
        Given { scrimp: "[provider]\nauth = 'basic'", ..NOTHING }
            .refused()
            .contains("`bearer` or `x-api-key`")
    );
}

#[test]
fn a_model_must_be_named_where_none_is_known_to_be() {
    assert_eq!(Given { provider: Some("openai"), ..NOTHING }.refused(), "no model is named for openai");
}

#[test]
fn no_error_and_no_report_shows_a_key() {
    let broken = "api_key = 'sk-secret\nmodel = 'm'";
    let error = Given { chibi: broken, ..NOTHING }.resolved().unwrap_err();
    assert!(error.to_string().starts_with("`/c.toml`: line 1: "), "{error}");
    assert!(!format!("{error} {error:?}").contains("sk-secret"));
    let odd = Given { env: &[("OPENAI_API_KEY", "sk secret\u{7f}")], ..NOTHING }.resolved().unwrap_err();
    assert_eq!(odd.to_string(), "environment (OPENAI_API_KEY): the key has characters that no key has");
    let file = ConfigFile { path: PathBuf::from("/c"), text: "api_key = 'sk-secret'".to_owned(), mode: 0 };
    assert!(!format!("{file:?}").contains("sk-secret"));
    let fine = Given { chibi: "api_key = 'sk-secret'\nmodel = 'm'", ..NOTHING }.resolved().unwrap();
    assert!(!format!("{fine:?}").contains("sk-secret"));
}

#[test]
fn a_key_that_others_can_read_or_hear_gets_a_warning() {
    let chibi = "api_key = 'k'\nmodel = 'm'";
    let warnings = |given: Given<'_>| given.resolved().unwrap().warnings;
    let open = Given { chibi, mode: 0o100_644, ..NOTHING };
    assert_eq!(
        warnings(open),
        ["`/c.toml` holds a key and is open to other users (mode 0644): `chmod 600 /c.toml`"]
    );
    assert_eq!(warnings(Given { chibi, ..NOTHING }), [] as [&str; 0]);
    assert_eq!(warnings(Given { chibi: "model = 'm'", mode: 0o100_644, ..NOTHING }), [] as [&str; 0]);
    let env = &[("ANTHROPIC_API_KEY", "k")];
    let clear = Given { env, api_url: Some("http://far.example"), ..NOTHING };
    assert_eq!(warnings(clear), ["the key travels to far.example without encryption: use https"]);
    for safe in ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost", "https://far.example"] {
        assert_eq!(warnings(Given { env, api_url: Some(safe), ..NOTHING }), [] as [&str; 0], "{safe}");
    }
}

#[test]
fn a_file_that_is_not_there_is_no_layer_and_one_that_cannot_be_read_is_an_error() {
    let home = testkit::Home::new();
    assert_eq!(ConfigFile::read(&home.path().join("absent.toml")), Ok(None));
    home.write("bad.toml", [0xff, 0xfe]);
    assert!(matches!(ConfigFile::read(&home.path().join("bad.toml")), Err(ResolveError::File { .. })));
    home.write("good.toml", "model = 'm'");
    let file = ConfigFile::read(&home.path().join("good.toml")).unwrap().unwrap();
    assert_eq!(Layer::chibi_file(&file).unwrap().origin, Origin::File(home.path().join("good.toml")));
}
