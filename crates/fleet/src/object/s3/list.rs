//! Pages of a list of names. Of their XML two elements matter, and neither can be nested.

/// A page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// Names of objects.
    pub(super) names: Vec<String>,
    /// Where the next one begins; none: this is the last.
    pub(super) next: Option<String>,
}

pub(super) fn read(text: &str) -> Page {
    Page {
        names: elements(text, "Key").collect(),
        next: elements(text, "NextContinuationToken").next(),
    }
}

fn elements<'a>(text: &'a str, name: &str) -> impl Iterator<Item = String> + 'a {
    let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(&begin)?;
        let (inside, after) = after.split_once(&end)?;
        rest = after;
        Some(plain(inside))
    })
}

/// The last is the ampersand: what it stands before is not read twice.
fn plain(text: &str) -> String {
    let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    marks.iter().fold(text.to_owned(), |text, (mark, character)| text.replace(mark, character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_the_next_page_are_found() {
        let text = "<?xml version=\"1.0\"?><ListBucketResult><Name>b</Name><IsTruncated>true\
            </IsTruncated><Contents><Key>a/1</Key><Size>3</Size></Contents><Contents><Key>a/&amp;lt;\
            </Key></Contents><NextContinuationToken>x+y</NextContinuationToken></ListBucketResult>";
        let page = read(text);
        assert_eq!(page.names, ["a/1", "a/&lt;"]);
        assert_eq!(page.next.as_deref(), Some("x+y"));
        assert_eq!(read("<ListBucketResult/>"), Page::default());
    }
}
