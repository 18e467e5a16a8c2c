//! Files that hold keys or credentials by convention, told by their names: they are not offered unless somebody asks.

use std::path::{Component, Path};

/// Names under which programs look for credentials: dotenv, curl (`netrc`), PostgreSQL's `libpq`, npm, PyPI's `twine`,
/// git, Apache, Docker, and the private keys of OpenSSH (ssh-keygen(1)).
const NAMES: &[&str] = &[
    ".env",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    ".dockercfg",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
];

/// Suffixes of key files and key stores: OpenSSL, PKCS #8 and #12, Java, PuTTY, KeePass; and settings of dotenv.
const SUFFIXES: &[&str] = &["pem", "key", "p8", "p12", "pfx", "jks", "keystore", "ppk", "kdbx", "env"];

/// Folders that hold little else.
const FOLDERS: &[&str] = &[".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker"];

/// What a file is called that shows which settings there are, without their values.
const TEMPLATES: &[&str] = &["example", "sample", "template", "dist"];

/// Whether a file holds keys or credentials by its name or by a folder that it lies in, in any case.
///
/// `.env`, `.env.production` and `prod.env` do; `.env.example` and `id_rsa.pub` do not.
pub(crate) fn is_secret(path: &Path) -> bool {
    let mut segments = path.components().filter_map(|component| match component {
        Component::Normal(segment) => segment.to_str().map(str::to_ascii_lowercase),
        _ => None,
    });
    let Some(name) = segments.next_back() else { return false };
    segments.any(|folder| FOLDERS.contains(&folder.as_str())) || is_secret_name(&name)
}

fn is_secret_name(name: &str) -> bool {
    if NAMES.contains(&name) {
        return true;
    }
    let Some((stem, suffix)) = name.rsplit_once('.') else { return false };
    if TEMPLATES.contains(&suffix) || TEMPLATES.contains(&stem) {
        return false;
    }
    SUFFIXES.contains(&suffix) || name.starts_with(".env.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_folders_tell_secrets_from_what_looks_like_them() {
        for secret in [
            ".env",
            "sub/.ENV",
            ".env.production",
            "prod.env",
            "id_rsa",
            "keys/ID_ED25519",
            "server.pem",
            "server.KEY",
            "store.p12",
            ".ssh/config",
            "home/.aws/credentials",
            ".netrc",
        ] {
            assert!(is_secret(Path::new(secret)), "{secret}");
        }
        for open in [
            "environment.md",
            "env",
            "src/env.rs",
            ".env.example",
            "example.env",
            "id_rsa.pub",
            "key.rs",
            "keys.md",
            "pem",
            ".envrc.md",
            "ssh/config",
            "monkey",
        ] {
            assert!(!is_secret(Path::new(open)), "{open}");
        }
    }
}
