//! Text of PDF files, page by page. Start at [`Reader::pages`].
//!
//! What is in such a file comes from anywhere: it is read on a thread of its own, whose panics end there,
//! for so long and no longer. Invariant: one that does not end in time costs one thread, never two.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::chunks::Chunk;

/// Limit: a larger PDF is not searched.
pub(super) const PDF_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Limit: a PDF that takes longer is given up and not searched.
const PDF_TIME_MAX: Duration = Duration::from_secs(30);
/// Limit: further pages are not searched.
const PDF_PAGES_MAX: usize = 2_000;
const PAGE_CHARS_MAX: usize = 20_000;
/// Files nest their parts deeply.
const STACK_BYTES: usize = 16 * 1024 * 1024;

#[derive(Clone, Debug, Default)]
pub(super) struct Reader {
    busy: Arc<AtomicBool>,
}

impl Reader {
    pub(super) fn pages(&self, bytes: Vec<u8>) -> Result<Vec<Chunk>, String> {
        if self.busy.swap(true, Ordering::AcqRel) {
            return Err("another PDF is still being read and does not end: take that one out and restart".into());
        }
        let (answer, done) = mpsc::sync_channel(1);
        let busy = Arc::clone(&self.busy);
        let started = thread::Builder::new().name("pdf".into()).stack_size(STACK_BYTES).spawn(move || {
            let read = catch_unwind(AssertUnwindSafe(|| pdf_extract::extract_text_from_mem_by_pages(&bytes)));
            let read = match read {
                Ok(Ok(pages)) => Ok(pages),
                Ok(Err(error)) => Err(format!("its text cannot be read: {error}")),
                Err(_) => Err("its text cannot be read: the file is damaged, or of a kind that is not known".into()),
            };
            busy.store(false, Ordering::Release);
            // Whoever asked may have given up.
            let _ = answer.send(read);
        });
        if let Err(error) = started {
            self.busy.store(false, Ordering::Release);
            return Err(format!("no thread could be started for it: {error}"));
        }
        let pages = done.recv_timeout(PDF_TIME_MAX).unwrap_or_else(|_| Err("reading it took too long".into()))?;
        let chunks: Vec<Chunk> = pages
            .into_iter()
            .take(PDF_PAGES_MAX)
            .enumerate()
            .filter(|(_, page)| !page.trim().is_empty())
            .map(|(number, page)| Chunk {
                place: format!("page {}", number + 1),
                content: page.trim().chars().take(PAGE_CHARS_MAX).collect(),
            })
            .collect();
        if chunks.is_empty() { Err("it has no text: it is probably a scan".into()) } else { Ok(chunks) }
    }
}
