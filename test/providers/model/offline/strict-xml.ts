/** A strict, small XML reader for tests: throws where a browser would refuse an SVG. */
import assert from 'node:assert/strict';

/** The document's text content. Every tag is closed, attributes are quoted and unique, only the five entities occur, no forbidden characters. */
export function strictXml(xml: string): string {
  assert.doesNotMatch(xml, /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/, 'control characters');
  assert.ok(xml.isWellFormed());
  const open: string[] = [];
  let text = '';
  let roots = 0;
  let at = 0;
  for (const tag of xml.matchAll(/<(\/?)([A-Za-z][\w:-]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/g)) {
    text += content(xml.slice(at, tag.index));
    at = tag.index + tag[0].length;
    const [, closing, name, attributes, alone] = tag;
    const pairs = [...attributes!.matchAll(/([\w:-]+)="([^"]*)"/g)];
    for (const [, , value] of pairs) content(value!);
    const names = pairs.map(([, attribute]) => attribute);
    assert.equal(new Set(names).size, names.length, 'repeated attribute');
    if (closing) assert.equal(open.pop(), name, 'wrong closing tag');
    else {
      if (open.length === 0) roots++;
      if (!alone) open.push(name!);
    }
  }
  assert.equal(content(xml.slice(at)).trim(), '');
  assert.deepEqual(open, [], 'unclosed tags');
  assert.equal(roots, 1, 'one root');
  return text;
}

function content(text: string): string {
  assert.doesNotMatch(text, /<|&(?!(?:amp|lt|gt|quot|#39);)/, 'a bare < or &');
  return text;
}
