//! Bound revisions as a source of context.

mod describe;
mod digest;
mod exact;
mod options;
mod prepare;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use briefing_core::{
    ContextSource, Cursor, DescriptorPage, ProjectionProfile, ReadRequest, Revision, SourceDescriptor,
    SourceError, SourceErrorKind, SourceId, SourceKind, SourceRead, SourceRecipe, SourceRef,
};

pub use self::options::{SkillBinding, SkillSourceOptions};
use self::prepare::{Form, Prepared};
use crate::{Error, SkillLibrary, library};

/// How often a page is tried anew where files change under it.
const MAX_TRIES: usize = 3;

/// Exact revisions of skills as a source of the kind `skill_library`.
///
/// | what | ref | role |
/// |---|---|---|
/// | the instructions: `SKILL.md` without its front matter | `skill:<name>@blake3:…/SKILL.md` | instruction; required where the binding is |
/// | a section of them | `…/SKILL.md#section-<n>`, 0 for what stands before the first heading | instruction |
/// | a file beneath `references/`, `examples/`, `assets/`, `scripts/`, elsewhere | `…/<path>` | information, example, artifact, capability, information |
/// | a section of a Markdown file beneath `references/`, `examples/` or elsewhere | `…/<path>#section-<n>` | that of the file |
///
/// A section names its file as its parent, so it is not delivered beside the whole. What is not text is offered by
/// reference; hidden files are not offered unless they are required. Instructions that are too large can be read as
/// [`LossyDigest`](briefing_core::Representation::LossyDigest).
///
/// The revision tells which revisions are bound and how; it moves only when one of them is damaged, loses its trust, or is
/// mended. Every read checks trust and bytes.
///
/// It needs a Tokio runtime: all file access happens on its blocking threads.
///
/// ```
/// use briefing_core::{ContextSource, ReadRequest, Representation, SourceRef};
/// use briefing_skill_library::{InstallOptions, SkillBinding, SkillLibrary, SkillSourceOptions};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let root = folder.path().join("skills");
/// let library = SkillLibrary::open(root)?;
/// let rules = "Never open the valve under pressure.\n".repeat(50);
/// let text = format!("---\nname: pump\ndescription: How to check a pump.\n---\n# Safety\n{rules}\n# Tools\nA wrench.\n");
/// let pump = library.install_files([("SKILL.md", text)], InstallOptions::trusted())?.revision.revision_ref;
///
/// let source = library.source(SkillSourceOptions::new().bind(SkillBinding::required(pump.clone())))?;
/// let core = SourceRef::new(format!("{pump}/SKILL.md"))?;
/// let request = ReadRequest::whole(700).as_representation(Representation::LossyDigest);
/// let digest = source.read_exact(&core, &request).await?;
/// assert!(digest.content.chars() <= 700);
/// assert!(digest.content.to_text().unwrap().contains("Never open the valve"));
/// assert_eq!(digest.refs.len(), 3);
/// assert_eq!(digest.metadata["original_chars"], 1_878);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct SkillSource(Arc<Inner>);

/// What the blocking threads share.
#[derive(Debug)]
struct Inner {
    library: SkillLibrary,
    source_id: SourceId,
    source_kind: SourceKind,
    options: SkillSourceOptions,
    prepared: Mutex<Option<Arc<Prepared>>>,
    /// A read met something else than was listed.
    look_again: AtomicBool,
}

impl SkillSource {
    /// The kind of all sources over skills.
    pub const KIND: &str = "skill_library";

    pub(crate) fn new(library: SkillLibrary, options: SkillSourceOptions) -> Result<Self, Error> {
        for (at, binding) in options.bindings.iter().enumerate() {
            let revision_ref = &binding.revision_ref;
            let before = options.bindings.get(..at).unwrap_or_default();
            if before.iter().any(|before| before.revision_ref == *revision_ref) {
                return Err(Error::BoundTwice { revision_ref: revision_ref.clone() });
            }
            let revision = library.get(revision_ref)?;
            if !revision.trusted {
                return Err(Error::Untrusted { revision_ref: revision_ref.clone() });
            }
            let held = |path: &&String| revision.files.iter().any(|file| file.path == **path);
            if let Some(path) = binding.required_resources.iter().find(|path| !held(path)) {
                return Err(Error::NoSuchFile { revision_ref: revision_ref.clone(), path: path.clone() });
            }
        }
        Ok(Self(Arc::new(Inner {
            source_id: SourceId::new(&options.source_id)?,
            source_kind: SourceKind::new(Self::KIND)?,
            library,
            options,
            prepared: Mutex::default(),
            look_again: AtomicBool::new(false),
        })))
    }

    /// Builds a source again from what its [`SourceRecipe`] said.
    ///
    /// # Errors
    /// [`Error::Configuration`] for JSON that is no such configuration, and as [`SkillLibrary::open`] and
    /// [`SkillLibrary::source`]: a revision that is gone, or no longer trusted, is an error and not a smaller source.
    pub fn from_configuration(configuration: serde_json::Value) -> Result<Self, Error> {
        let recipe: options::Recipe =
            serde_json::from_value(configuration).map_err(|source| Error::Configuration { source })?;
        SkillLibrary::open(recipe.root)?.source(recipe.options)
    }

    /// The revisions that are bound, in order.
    #[must_use]
    pub fn bindings(&self) -> &[SkillBinding] {
        &self.0.options.bindings
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, SourceError> + Send + 'static,
    ) -> Result<T, SourceError> {
        let inner = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || work(&inner)).await.map_err(|error| {
            SourceError::new(SourceErrorKind::Unavailable, "the work on the skills was cut short")
                .with_cause(error)
        })?
    }
}

impl Inner {
    /// What is offered, as it was when it was last looked at; listings and reads refer to it.
    fn prepared(&self) -> Result<Arc<Prepared>, SourceError> {
        let mut kept = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        self.kept_or_new(&mut kept)
    }

    /// What is offered, looked at anew where something was refused or met otherwise since.
    fn current(&self) -> Result<Arc<Prepared>, SourceError> {
        let mut kept = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = kept.as_ref().is_some_and(|prepared| prepared.refused);
        if self.look_again.swap(false, Ordering::SeqCst) || refused {
            *kept = None;
        }
        self.kept_or_new(&mut kept)
    }

    fn kept_or_new(&self, kept: &mut Option<Arc<Prepared>>) -> Result<Arc<Prepared>, SourceError> {
        if let Some(prepared) = kept {
            return Ok(Arc::clone(prepared));
        }
        let prepared = Arc::new(Prepared::of(self)?);
        *kept = Some(Arc::clone(&prepared));
        Ok(prepared)
    }

    /// Lets the next question for the revision look again.
    fn look_again(&self) {
        self.look_again.store(true, Ordering::SeqCst);
    }

    fn page(&self, cursor: Option<&Cursor>, limit: usize) -> Result<DescriptorPage, SourceError> {
        if limit == 0 {
            return Err(SourceError::new(SourceErrorKind::Contract, "a page of no descriptors"));
        }
        let mut tries = 0;
        loop {
            let prepared = self.prepared()?;
            let start = match cursor.map(place_of).transpose()? {
                None => 0,
                Some((listed, start)) if listed == prepared.revision.as_str() => start,
                // Whoever pages on sees by its revision that the listing is another now.
                Some(_) => return Ok(self.page_of(&prepared, Vec::new(), None)?),
            };
            match self.described(&prepared, start, limit) {
                Ok(descriptors) => {
                    let end = start + descriptors.len();
                    let next = (end < prepared.items.len())
                        .then(|| Cursor::new(format!("{}@{end}", prepared.revision)))
                        .transpose()?;
                    let page = self.page_of(&prepared, descriptors, next)?;
                    return Ok(match cursor {
                        None => page.with_diagnostics(prepared.diagnostics.clone()),
                        Some(_) => page,
                    });
                }
                Err(error) if tries == MAX_TRIES => return Err(error),
                // A file is no longer what it was when it was looked at: one bad file must not hide the others.
                Err(_) => drop(self.current()?),
            }
            tries += 1;
        }
    }

    fn page_of(
        &self,
        prepared: &Prepared,
        descriptors: Vec<SourceDescriptor>,
        next: Option<Cursor>,
    ) -> Result<DescriptorPage, briefing_core::Error> {
        DescriptorPage::new(self.source_id.clone(), prepared.revision.clone(), descriptors, next)
    }

    fn described(
        &self,
        prepared: &Prepared,
        start: usize,
        limit: usize,
    ) -> Result<Vec<SourceDescriptor>, SourceError> {
        let mut descriptors = Vec::new();
        // Sections follow their file, so its text is read once a page.
        let mut text: Option<((usize, &str), Arc<str>)> = None;
        for item in prepared.items.iter().skip(start).take(limit) {
            let file = (item.bound, item.path.as_str());
            if matches!(item.form, Form::Text { .. }) && text.as_ref().is_none_or(|(known, _)| *known != file)
            {
                text = Some((file, exact::text_of(self, item)?));
            }
            let own = text.as_ref().filter(|(known, _)| *known == file).map(|(_, text)| &**text);
            descriptors.push(describe::descriptor(self, prepared, item, own)?);
        }
        Ok(descriptors)
    }
}

/// The revision and the place that a cursor names.
fn place_of(cursor: &Cursor) -> Result<(&str, usize), SourceError> {
    let refused = || SourceError::new(SourceErrorKind::Contract, "a cursor that this source never gave");
    let (listed, place) = cursor.as_str().rsplit_once('@').ok_or_else(refused)?;
    Ok((listed, place.parse().map_err(|_| refused())?))
}

#[async_trait]
impl ContextSource for SkillSource {
    fn source_id(&self) -> &SourceId {
        &self.0.source_id
    }

    fn source_kind(&self) -> &SourceKind {
        &self.0.source_kind
    }

    async fn revision(&self) -> Result<Revision, SourceError> {
        self.blocking(|inner| Ok(inner.current()?.revision.clone())).await
    }

    async fn enumerate_descriptors(
        &self,
        _profile: &ProjectionProfile,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<DescriptorPage, SourceError> {
        let cursor = cursor.cloned();
        self.blocking(move |inner| inner.page(cursor.as_ref(), limit)).await
    }

    async fn read_exact(
        &self,
        source_ref: &SourceRef,
        request: &ReadRequest,
    ) -> Result<SourceRead, SourceError> {
        let (source_ref, request) = (source_ref.clone(), request.clone());
        self.blocking(move |inner| exact::read_exact(inner, &source_ref, &request)).await
    }

    fn recipe(&self) -> Option<&dyn SourceRecipe> {
        Some(self)
    }
}

impl SourceRecipe for SkillSource {
    fn configuration(&self) -> serde_json::Value {
        serde_json::json!({ "root": library::shown(&self.0.library.area), "options": self.0.options })
    }
}
