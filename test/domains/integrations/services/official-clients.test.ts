/** The services' own clients pass their scenario at our stand-ins: so an error in our reading of a protocol fails a test. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { gmail as officialGmail } from '@googleapis/gmail';
import { LogLevel, WebClient } from '@slack/web-api';
import { gmailRow } from '../../../support/services/gmail-row.ts';
import type { GmailServer } from '../../../support/services/gmail-server.ts';
import { goodToken, tokenWithoutScopes } from '../../../support/services/service-row.ts';
import { slackRow } from '../../../support/services/slack-row.ts';
import type { SlackServer } from '../../../support/services/slack-server.ts';

test('@googleapis/gmail reads, drafts, sends, labels and is refused at the stand-in for Gmail', async (t) => {
  const standIn = (await gmailRow.start(t)) as GmailServer;
  const client = (token: string) =>
    officialGmail({ version: 'v1', rootUrl: `${standIn.apiUrl}/`, headers: { authorization: `Bearer ${token}` }, retry: false });
  const { users } = client(goodToken);
  const { messages, threads, drafts, labels } = users;
  const me = { userId: 'me' };
  assert.equal((await users.getProfile(me)).data.emailAddress, 'me@example.com');
  const listed = await messages.list({ ...me, maxResults: 1, labelIds: ['INBOX'] });
  assert.ok(listed.data.nextPageToken);
  const next = await messages.list({ ...me, maxResults: 1, labelIds: ['INBOX'], pageToken: listed.data.nextPageToken });
  const offer = await messages.get({ ...me, id: next.data.messages![0]!.id!, format: 'full' });
  assert.equal(offer.data.payload!.headers!.find(({ name }) => name === 'Subject')!.value, 'Offer');
  assert.equal(Buffer.from(offer.data.payload!.body!.data!, 'base64url').toString(), '<p>Good <b>morning</b></p>');

  const text = 'To: ann@example.com\r\nSubject: Re: Offer\r\nMessage-ID: <r1@x>\r\nReferences: <offer@example.com>\r\n\r\nYes';
  const raw = Buffer.from(text).toString('base64url');
  const threadId = offer.data.threadId!;
  const sent = await messages.send({ ...me, requestBody: { raw, threadId } });
  assert.deepEqual([sent.data.threadId, sent.data.labelIds], [threadId, ['SENT']]);
  assert.equal((await messages.list({ ...me, q: 'rfc822msgid:r1@x' })).data.messages![0]!.id, sent.data.id);
  assert.equal((await threads.get({ ...me, id: threadId, format: 'metadata' })).data.messages!.length, 2);
  const draft = await drafts.create({ ...me, requestBody: { message: { raw } } });
  assert.equal((await drafts.list({ ...me, q: 'rfc822msgid:r1@x' })).data.drafts![0]!.id, draft.data.id);
  const label = await labels.create({ ...me, requestBody: { name: 'Paid' } });
  const modified = await messages.modify({ ...me, id: sent.data.id!, requestBody: { addLabelIds: [label.data.id!] } });
  assert.deepEqual(modified.data.labelIds, ['SENT', label.data.id]);

  await assert.rejects(messages.get({ ...me, id: 'none' }), { status: 404 });
  await assert.rejects(client(tokenWithoutScopes).users.messages.list(me), { status: 403, message: /insufficient authentication scopes/ });
  await assert.rejects(client('unknown').users.messages.list(me), { status: 401 });
});

test('@slack/web-api posts, reads, searches, creates and is refused at the stand-in for Slack', async (t) => {
  const standIn = (await slackRow.start(t)) as SlackServer;
  const client = (token: string) =>
    new WebClient(token, {
      slackApiUrl: `${standIn.apiUrl}/`,
      retryConfig: { retries: 0 },
      logLevel: LogLevel.ERROR,
      rejectRateLimitedCalls: true,
    });
  const slack = client(goodToken);
  assert.equal((await slack.auth.test()).team, 'Example');
  const posted = await slack.chat.postMessage({ channel: '#general', text: 'Done.' });
  assert.deepEqual([posted.ok, posted.channel, posted.message!.text], [true, 'C024BE91L', 'Done.']);
  standIn.pageSize = 2;
  const first = await slack.conversations.history({ channel: 'C024BE91L', limit: 50 });
  assert.deepEqual([first.messages!.length, first.messages![0]!.ts, first.has_more], [2, posted.ts, true]);
  const rest = await slack.conversations.history({ channel: 'C024BE91L', cursor: first.response_metadata!.next_cursor! });
  assert.deepEqual([rest.messages!.length, rest.has_more], [1, false]);
  assert.equal((await slack.conversations.create({ name: 'launch' })).channel!.name, 'launch');
  assert.ok((await slack.conversations.list()).channels!.some(({ name }) => name === 'launch'));
  const found = await slack.search.messages({ query: 'Deploy' });
  assert.deepEqual([found.messages!.total, found.messages!.matches![0]!.channel!.name], [1, 'general']);

  const code = 'slack_webapi_platform_error';
  await assert.rejects(slack.conversations.history({ channel: 'C0NONE' }), {
    code,
    data: { ok: false, error: 'channel_not_found', response_metadata: {} },
  });
  await assert.rejects(client(tokenWithoutScopes).search.messages({ query: 'x' }), { code, message: /missing_scope/ });
  await assert.rejects(client('unknown').auth.test(), { code, message: /invalid_auth/ });
  standIn.meet(/auth\.test$/, slackRow.limited.withRetryAfter('60'));
  await assert.rejects(slack.auth.test(), { code: 'slack_webapi_rate_limited_error', retryAfter: 60 });
});
