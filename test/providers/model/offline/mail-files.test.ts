/** Stored mails (.eml): headers and plain bodies are read, encoded ones are named as not read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMailFile } from '../../../../src/providers/model/offline/text/mail-file.ts';
import { runAgent } from './agent-loop.ts';

const headers = `Received: from mx.example.org by example.com
\twith SMTP id 77
From: Nora Falk <nora@example.org>
To: Pavel Orlik <pavel@example.org>
Subject: Kayaks for the
 spring course
Date: Tue, 3 Nov 2026 09:12:44 +0100
`;
const body = 'Dear Pavel,\n\nCould you please order six paddles by 20 November?\n\nNora\n';

test('the headers of a mail and its plain body keep their lines', () => {
  const { text, problem } = readMailFile(`${headers}\n${body}`.replaceAll('\n', '\r\n'));
  assert.equal(problem, null);
  const lines = text.split('\n');
  assert.equal(lines[4], 'Subject: Kayaks for the spring course');
  assert.equal(lines[10], 'Could you please order six paddles by 20 November?');
  assert.ok(!text.includes('Received'));
});

test('of a mail of several parts the plain one is read', () => {
  const { text, problem } = readMailFile(
    `${headers}Content-Type: multipart/alternative; boundary="b7"\n\n--b7\nContent-Type: text/html\n\n<p>six</p>\n--b7\nContent-Type: text/plain; charset=utf-8\n\n${body}--b7--\n`,
  );
  assert.equal(problem, null);
  assert.match(text, /six paddles/);
  assert.ok(!text.includes('<p>'));
});

test('a part within a part is read up to the next mark', () => {
  const { text, problem } = readMailFile(
    `${headers}Content-Type: multipart/mixed; boundary="a1"\n\n--a1\nContent-Type: multipart/alternative; boundary="b7"\n\n--b7\n\n${body}--b7--\n--a1\nContent-Type: image/png\n\nxyz\n--a1--\n`,
  );
  assert.equal(problem, null);
  assert.match(text, /six paddles/);
  assert.ok(!text.includes('xyz'));
});

test('an encoded body is not read, and that is said', async () => {
  const mail = `${headers}Content-Transfer-Encoding: base64\n\nRGVhciBQYXZlbA==\n`;
  const { workspace, summary } = await runAgent('Summarise mail.eml', { files: { 'mail.eml': mail } });
  assert.match(summary, /the body is encoded as base64/);
  assert.ok(!workspace.text('summary.md').includes('RGVh'));
});

test('a mail is told with its sender, its day and what it asks', async () => {
  const { workspace } = await runAgent('Who has to do what by when in mail.eml?', { files: { 'mail.eml': `${headers}\n${body}` } });
  const told = workspace.text('summary.md');
  assert.match(told, /\| recipient: Pavel Orlik .* \| 20 November \| 2026-11-20/);
  assert.match(told, /Its own date: Tue, 3 Nov 2026/);
  assert.doesNotMatch(told, /only the first/, 'headers that are not shown were read as well');
});
