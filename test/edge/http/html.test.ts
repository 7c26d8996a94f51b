import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { Html, type HtmlPart, html, trustedHtml } from '../../../src/edge/http/html.ts';

const text = (page: Html) => page.toString();

test('text that a caller sent cannot begin an element or leave its attribute', () => {
  assert.equal(text(html`<p>${'<script>alert(1)</script>'}</p>`), '<p>&#60;script&#62;alert(1)&#60;/script&#62;</p>');
  assert.equal(text(html`<input value="${'" autofocus onfocus="alert(1)'}">`), '<input value="&#34; autofocus onfocus=&#34;alert(1)">');
  assert.equal(text(html`<input value='${"' onfocus='alert(1)"}'>`), "<input value='&#39; onfocus=&#39;alert(1)'>");
  assert.equal(text(html`<textarea>${'</textarea><b>'}</textarea>`), '<textarea>&#60;/textarea&#62;&#60;b&#62;</textarea>');
  assert.equal(text(html`<!-- ${'--><b>'} -->`), '<!-- --&#62;&#60;b&#62; -->');
});

test('escaped text is escaped again, so that it is shown as it was sent', () => {
  assert.equal(text(html`<p>${'&lt;b&gt; &amp; &#60;'}</p>`), '<p>&#38;lt;b&#38;gt; &#38;amp; &#38;#60;</p>');
});

test('nested HTML is not escaped again at any depth, and its texts stay escaped', () => {
  const row = (name: string) => html`<td>${name}</td>`;
  assert.equal(text(html`<tr>${html`<!-- -->${row('<b>')}`}</tr>`), '<tr><!-- --><td>&#60;b&#62;</td></tr>');
  assert.equal(text(html`<style>${trustedHtml('a>b{content:"&"}')}</style>`), '<style>a>b{content:"&"}</style>');
});

test('parts of an array follow each other, each text escaped; null is nothing', () => {
  assert.equal(text(html`<p>${['<', html`<br>`, null, ['&', [7]]]}${null}${[]}${''}${0}</p>`), '<p>&#60;<br>&#38;70</p>');
});

test('a value that only looks like trusted HTML is escaped', () => {
  const forged: unknown[] = [
    { text: '<b>', toString: () => '<b>' },
    { '#text': '<b>', constructor: Html },
    Object.assign(['<b>'], { toString: () => '<b>' }),
    new String('<b>'),
  ];
  for (const value of forged) assert.doesNotMatch(text(html`${value as HtmlPart}`), /<b>/);
});

test('any inserted text adds no markup and is shown unchanged', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', '#', ';', '`', 'x', '3') })),
      (sent) => {
        const shown = text(html`${sent}`);
        assert.doesNotMatch(shown, /[<>"']/);
        assert.equal(
          shown.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))),
          sent,
        );
      },
    ),
  );
});
