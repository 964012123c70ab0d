"""A script in every text of a record of each kind: refused where a page takes the text for a name, else shown as text
on every page that shows the record, with the book's policy and without it."""

import re

import pytest
from bench.payloads import STUDIES, TAG, build, opened

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Its folder of pages."""
    root = tmp_path_factory.mktemp("payloads")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACTLAB_RESULTS", str(root / "results"))
        yield build(root)


@pytest.mark.parametrize("name", [*STUDIES, "explore", "texts"])
def test_no_script_of_a_record_runs(name, browser, book):
    """Nor does it become an element, so that it would not run without the policy either; the policy refuses nothing of
    the page's own. The same page with the script as HTML shows that each of the two would be seen."""
    file = book / f"{name}.html"
    page = file.read_text()
    policy = re.search('<meta http-equiv="Content-Security-Policy"[^>]*>', page)[0]
    assert page.index(policy) < page.index("<script")
    assert opened(browser, file) == ([], [], [])
    bare, open_to_all = file.with_stem(f"{name}-bare"), file.with_stem(f"{name}-open")
    bare.write_text(page.replace(policy, ""))
    assert opened(browser, bare) == ([], [], [])
    open_to_all.write_text(page.replace("</article>", f"{TAG}</article>", 1))
    dialogs, refused, strange = opened(browser, open_to_all)
    assert (dialogs, len(refused), len(strange)) == ([], 2, 1)
    bare.write_text(page.replace(policy, "").replace("</article>", f"{TAG}</article>", 1))
    assert sorted(opened(browser, bare)[0]) == ["1", "2"]
