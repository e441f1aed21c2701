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

/// Keys and passwords, by the names they have, in small letters. What comes from shells and REPLs holds them now and then.
pub(super) const SECRETS: &str = "\
*.env
.env
.env.*
.env-*
.env_*
.env~
.envrc
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
*.p8
*.ppk
*.ovpn
id_{rsa,dsa,ecdsa,ed25519}*
!id_{rsa,dsa,ecdsa,ed25519}*.{pub,c,cc,cpp,cs,go,h,hpp,java,js,jsx,kt,lua,md,php,pl,py,rb,rs,scala,swift,ts,tsx,zig}
.ssh/
.gnupg/
.aws/
.azure/
**/.config/gcloud/
application_default_credentials.json
credentials.json
*-credentials.json
*_credentials.json
.credentials.json
oauth_creds.json
client_secret*.json
**/.cargo/credentials
**/.cargo/credentials.toml
**/.gem/credentials
**/.codex/auth.json
**/.composer/auth.json
**/opencode/auth.json
**/.m2/settings.xml
**/.m2/settings-security.xml
local.settings.json
service-account*.json
service_account*.json
secrets.yml
secrets.yaml
secrets.json
secrets.toml
.vault-token
.terraformrc
credentials.tfrc.json
.s3cfg
.boto
rclone.conf
.databrickscfg
.password-store/
*.tfstate
*.tfstate.*
*.tfvars
*.tfvars.json
**/.config/gh/hosts.yml
.dockercfg
**/.docker/config.json
.kube/
kubeconfig
.netrc
_netrc
.npmrc
.pypirc
.git-credentials
.my.cnf
.mylogin.cnf
.authinfo
.pgpass
.htpasswd
.bash_history
.zsh_history
.python_history
.node_repl_history
.psql_history
.mysql_history
.sqlite_history
.rediscli_history
.irb_history
fish_history
";
