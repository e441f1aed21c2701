//! What is ignored without anybody saying so, in the syntax of `.gitignore`. Words that are also ordinary names of
//! source directories (`build`, `vendor`, …) count only at the top of a project.

/// Nothing an agent gains by reading: of tools, made by tools, or not text.
pub(super) const OTHERS: &str = "\
# version control
.git
.hg
.svn
.jj
.bzr
CVS/
# other people's code
node_modules/
bower_components/
/vendor/
.venv/
venv/
# caches
__pycache__/
.pytest_cache/
.mypy_cache/
.ruff_cache/
.tox/
.gradle/
# what builds leave
/target/
/dist/
/build/
/out/
.next/
.turbo/
.svelte-kit/
# lock files
Cargo.lock
package-lock.json
npm-shrinkwrap.json
yarn.lock
pnpm-lock.yaml
bun.lock
bun.lockb
poetry.lock
uv.lock
Pipfile.lock
Gemfile.lock
composer.lock
go.sum
flake.lock
# certificates
*.crt
# pictures
*.png
*.jpg
*.jpeg
*.gif
*.bmp
*.ico
*.tif
*.tiff
*.webp
*.avif
*.heic
*.psd
# sound and film
*.mp3
*.wav
*.flac
*.ogg
*.mp4
*.mkv
*.mov
*.avi
*.webm
# fonts
*.ttf
*.otf
*.woff
*.woff2
*.eot
# documents and archives
*.pdf
*.zip
*.tar
*.gz
*.tgz
*.bz2
*.xz
*.zst
*.7z
*.rar
*.jar
*.war
# programs and their parts
*.so
*.dylib
*.dll
*.exe
*.o
*.a
*.lib
*.class
*.pyc
*.pyo
*.wasm
# databases
*.sqlite
*.sqlite3
*.db
";

/// Keys and passwords, by the names they have.
pub(super) const SECRETS: &str = "\
.env
.env.*
!.env.example
!.env.sample
!.env.template
!.env.dist
*.pem
*.key
*.p12
*.pfx
*.jks
*.keystore
*.kdbx
id_rsa
id_dsa
id_ecdsa
id_ecdsa_sk
id_ed25519
id_ed25519_sk
.ssh/
.gnupg/
.aws/
.azure/
**/.config/gcloud/
application_default_credentials.json
**/.docker/config.json
.kube/
kubeconfig
.netrc
_netrc
.npmrc
.pypirc
.git-credentials
.pgpass
.htpasswd
";
