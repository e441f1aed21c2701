//! `manifest.json`: which partitions there are, in the seed's form. It can be made again from the files at any time, so
//! that nothing depends on it but the order and the speed of reading.

use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use store::{Durability, replace};

use super::super::ContextError;
use super::super::fault::{At, found, read};
use super::{Policy, partition};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    version: u32,
    active_partition: String,
    pub(super) partitions: Vec<Listed>,
    rotation_policy: RotationPolicy,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Listed {
    /// Relative to the transcript's folder.
    pub(super) file: String,
    pub(super) start_ts: u64,
    pub(super) end_ts: u64,
    pub(super) entry_count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token_count: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bloom_file: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct RotationPolicy {
    max_entries: u64,
    max_age_seconds: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
}

impl Default for Manifest {
    fn default() -> Self {
        let rotation_policy = RotationPolicy::from(&Policy::default());
        Manifest {
            version: 1,
            active_partition: "active.jsonl".to_owned(),
            partitions: Vec::new(),
            rotation_policy,
        }
    }
}

impl Manifest {
    /// None without a manifest that can be read. Rows that lead out of `partitions/` are left out, and so are those that
    /// name a partition again.
    pub(super) fn load(folder: &Path) -> Result<(Option<Manifest>, Vec<String>), ContextError> {
        let path = folder.join("manifest.json");
        let Some(bytes) = found(read(&path)).at("read", &path)? else { return Ok((None, Vec::new())) };
        let mut manifest: Manifest = match serde_json::from_slice(&bytes) {
            Ok(manifest) => manifest,
            Err(error) => {
                let note =
                    format!("`{}` cannot be read ({error}): made again from the files", path.display());
                return Ok((None, vec![note]));
            }
        };
        let mut notes = Vec::new();
        let mut known = HashSet::new();
        manifest.partitions.retain(|listed| {
            let odd = match stem(&listed.file) {
                None => "which is no partition",
                Some(_) if !known.insert(listed.file.clone()) => "and not for the first time",
                Some(_) => return true,
            };
            notes.push(format!("`{}` lists `{}`, {odd}", path.display(), listed.file));
            false
        });
        Ok((Some(manifest), notes))
    }

    pub(super) fn save(&self, folder: &Path) -> Result<(), ContextError> {
        let mut text = serde_json::to_vec_pretty(self).expect("names and numbers can be written as JSON");
        text.push(b'\n');
        Ok(replace(&folder.join("manifest.json"), &text, Durability::Fsync)?)
    }

    pub(super) fn follow(&mut self, policy: &Policy) {
        self.rotation_policy = RotationPolicy::from(policy);
    }

    /// Lists the partitions that lie in the folder and are not listed, each behind those that began before it.
    pub(super) fn adopt(&mut self, folder: &Path) -> Result<Vec<String>, ContextError> {
        let partitions = folder.join("partitions");
        let known: HashSet<&[u8]> =
            self.partitions.iter().filter_map(|listed| stem(&listed.file)).map(str::as_bytes).collect();
        let mut orphans = Vec::new();
        // A search waits for this: of thousands of names only those are looked at closely that are no sidecar's.
        for entry in found(fs::read_dir(&partitions)).at("list", &partitions)?.into_iter().flatten() {
            let name = entry.at("list", &partitions)?.file_name();
            let plain = name.as_bytes().strip_suffix(b".jsonl").filter(|stem| !known.contains(stem));
            if plain.is_none() {
                continue;
            }
            let file = format!("partitions/{}", name.to_string_lossy());
            if stem(&file).is_some() {
                orphans.push(partition::measure(&folder.join(&file))?.listed(file));
            }
        }
        orphans.sort_by_key(|listed| (listed.start_ts, listed.end_ts, number(&listed.file)));
        let files = orphans.iter().map(|listed| listed.file.clone()).collect();
        for orphan in orphans {
            let before = self.partitions.iter().rposition(|listed| listed.start_ts <= orphan.start_ts);
            self.partitions.insert(before.map_or(0, |before| before + 1), orphan);
        }
        Ok(files)
    }

    /// A name for a partition of this time that no other has: seconds alone are not enough for a busy one.
    pub(super) fn free_name(&self, folder: &Path, start: u64, end: u64) -> String {
        let base = format!("partitions/{start}-{end}");
        let alike =
            self.partitions.iter().filter(|listed| listed.start_ts == start && listed.end_ts == end).count();
        (alike..)
            .map(
                |number| {
                    if number == 0 { format!("{base}.jsonl") } else { format!("{base}-{}.jsonl", number + 1) }
                },
            )
            .find(|file| !folder.join(file).exists())
            .expect("numbers do not end")
    }
}

impl From<&Policy> for RotationPolicy {
    fn from(policy: &Policy) -> Self {
        let Policy { max_entries, max_age_seconds, max_tokens, .. } = *policy;
        RotationPolicy { max_entries, max_age_seconds, max_tokens }
    }
}

/// The plain name of a partition without folder and ending; None if it is none of ours.
pub(super) fn stem(file: &str) -> Option<&str> {
    let name = file.strip_prefix("partitions/")?.strip_suffix(".jsonl")?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (!name.is_empty() && name.bytes().all(plain)).then_some(name)
}

/// Which of the partitions of the same seconds it is.
fn number(file: &str) -> u64 {
    stem(file).and_then(|stem| stem.split('-').nth(2)?.parse().ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use testkit::Home;

    use super::*;

    #[test]
    fn a_manifest_of_the_original_is_read_and_written_in_its_form() {
        let home = Home::new();
        let text = r#"{"version":1,"active_partition":"active.jsonl","partitions":[{"file":"partitions/1-2.jsonl","start_ts":1,"end_ts":2,"entry_count":3,"token_count":9,"bloom_file":"partitions/1-2.bloom"}],"rotation_policy":{"max_entries":1000,"max_age_seconds":2592000,"max_tokens":100000}}"#;
        home.write("manifest.json", text);
        let manifest = Manifest::load(home.path()).unwrap().0.unwrap();
        manifest.save(home.path()).unwrap();
        let written: serde_json::Value = serde_json::from_str(&home.read("manifest.json")).unwrap();
        assert_eq!(written, serde_json::from_str::<serde_json::Value>(text).unwrap());
    }

    #[test]
    fn what_nobody_listed_stands_where_its_time_is() {
        let home = Home::new();
        let line = |time: u64| {
            format!(
                r#"{{"id":"{time}","timestamp":{time},"from":"a","to":"b","content":"","entry_type":"message"}}"#
            )
        };
        let mut manifest = Manifest::default();
        for time in [1, 3, 5] {
            let file = format!("partitions/{time}-{time}.jsonl");
            home.write(&file, line(time) + "\n");
            manifest.partitions.push(partition::measure(&home.path().join(&file)).unwrap().listed(file));
        }
        for orphan in ["0-0", "4-4", "4-4-2", "9-9"] {
            home.write(format!("partitions/{orphan}.jsonl"), line(orphan[..1].parse().unwrap()) + "\n");
        }
        assert_eq!(manifest.adopt(home.path()).unwrap().len(), 4);
        let files: Vec<&str> = manifest.partitions.iter().filter_map(|listed| stem(&listed.file)).collect();
        assert_eq!(files, ["0-0", "1-1", "3-3", "4-4", "4-4-2", "5-5", "9-9"]);
        assert!(manifest.adopt(home.path()).unwrap().is_empty());
    }

    #[test]
    fn rows_that_lead_elsewhere_or_say_the_same_again_are_left_out() {
        let home = Home::new();
        let row = |file: &str| format!(r#"{{"file":"{file}","start_ts":1,"end_ts":2,"entry_count":3}}"#);
        let rows = [
            "partitions/../../x.jsonl",
            "/etc/passwd",
            "partitions/.jsonl",
            "partitions/1-2.jsonl",
            "partitions/1-2.jsonl",
        ]
        .map(row)
        .join(",");
        home.write("manifest.json", format!(r#"{{"version":1,"active_partition":"active.jsonl","partitions":[{rows}],"rotation_policy":{{"max_entries":1,"max_age_seconds":1}}}}"#));
        let (manifest, notes) = Manifest::load(home.path()).unwrap();
        assert_eq!(manifest.unwrap().partitions.len(), 1);
        assert_eq!(notes.len(), 4);
    }
}
