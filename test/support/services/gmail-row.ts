import assert from 'node:assert/strict';
import { gmail } from '../../../src/domains/integrations/services/gmail.ts';
import { GmailServer } from './gmail-server.ts';
import { defineRow, goodToken, mark, tokenWithoutScopes } from './service-row.ts';

const scopes = ['readonly', 'compose', 'send', 'modify'].map((name) => `https://www.googleapis.com/auth/gmail.${name}`);

const google = (code: number, status: string, reason: string, message: string) => ({
  status: code,
  json: { error: { code, message, status, errors: [{ message, domain: 'global', reason }] } },
});

export const gmailRow = defineRow<GmailServer>({
  service: gmail,
  hasScopes: true,
  async start(t) {
    const standIn = await GmailServer.start(t);
    standIn.tokens.set(goodToken, scopes).set(tokenWithoutScopes, []);
    standIn.receive({
      from: 'Ann <ann@example.com>',
      subject: 'Offer',
      parts: { 'text/html': '<p>Good <b>morning</b></p>' },
      messageId: '<offer@example.com>',
    });
    standIn.receive({
      from: 'bill@example.com',
      subject: 'Invoice 7',
      parts: { 'text/plain': 'Please pay 7 €.', 'text/html': '<p>Please pay</p>' },
      attachment: 'invoice.pdf',
    });
    return standIn;
  },
  truePlan: {
    variables: { token: 'GMAIL_TEST_TOKEN', address: 'GMAIL_TEST_ADDRESS' },
    ofStandIn: () => ({ token: goodToken, address: 'me@example.com' }),
    calls: {
      send_email: ({ address }) => ({ to: address, subject: mark, body: 'Sent by a test.' }),
      read_emails: () => ({ max_results: 2 }),
      search_inbox: () => ({ query: 'in:anywhere', max_results: 1 }),
      draft_email: ({ address }) => ({ to: address, subject: mark, body: 'Drafted by a test.' }),
    },
    unknown: { tool: 'manage_labels', args: () => ({ message_id: '0000000000000000', add: ['starred'] }) },
  },
  tools: {
    read_emails: {
      args: () => ({ max_results: 2 }),
      path: /\/messages$/,
      result: ({ mails: [offer, invoice] }) => ({
        emails: [
          {
            ...{ id: invoice!.id, thread_id: invoice!.id, from: 'bill@example.com', to: 'me@example.com', subject: 'Invoice 7' },
            ...{ date: new Date(Number(invoice!.internalDate)).toISOString(), labels: ['INBOX', 'UNREAD'], snippet: 'the first words' },
            ...{ body: 'Please pay 7 €.', attachments: ['invoice.pdf'] },
          },
          {
            ...{ id: offer!.id, thread_id: offer!.id, from: 'Ann <ann@example.com>', to: 'me@example.com', subject: 'Offer' },
            ...{ date: new Date(Number(offer!.internalDate)).toISOString(), labels: ['INBOX', 'UNREAD'], snippet: 'the first words' },
            body: 'Good morning',
          },
        ],
      }),
    },
    search_inbox: {
      args: () => ({ query: 'from:bill' }),
      path: /\/messages$/,
      result: ({ mails: [, invoice] }) => ({
        emails: [
          {
            ...{ id: invoice!.id, thread_id: invoice!.id, from: 'bill@example.com', to: 'me@example.com', subject: 'Invoice 7' },
            ...{ date: new Date(Number(invoice!.internalDate)).toISOString(), labels: ['INBOX', 'UNREAD'], snippet: 'the first words' },
          },
        ],
      }),
    },
    draft_email: {
      args: () => ({ to: 'ann@example.com', subject: 'Re: Offer', body: 'Let me think.' }),
      path: /\/drafts$/,
      result: ({ drafts: [draft] }) => ({ draft_id: draft!.id, message_id: draft!.mail.id, thread_id: draft!.mail.threadId }),
      effect: ({ sent }) => assert.equal(sent.length, 0),
    },
    send_email: {
      args: ({ mails }) => ({
        to: 'ann@example.com, bob@example.org',
        subject: 'Re: Offer ✓',
        body: 'Ja, gerne – morgen.',
        thread_id: mails[0]!.id,
      }),
      path: /\/messages\/send$/,
      result: ({ sent: [mail], mails }) => ({
        ...{ id: mail!.id, thread_id: mails[0]!.id },
        ...{ to: 'ann@example.com, bob@example.org', subject: 'Re: Offer ✓', status: 'sent' },
      }),
      effect({ sent: [mail] }) {
        const header = (name: string) => mail!.payload.headers.find((one: { name: string }) => one.name === name)?.value;
        assert.equal(header('In-Reply-To'), '<offer@example.com>');
        assert.equal(header('References'), '<offer@example.com>');
        assert.equal(header('To'), 'ann@example.com, bob@example.org');
        assert.equal(header('Subject'), '=?UTF-8?Q?Re=3A_Offer_=E2=9C=93?=');
      },
    },
    manage_labels: {
      args: ({ mails }) => ({ message_id: mails[1]!.id, add: ['invoices', 'Paid'], remove: ['unread'] }),
      path: /\/modify$/,
      result: ({ mails, labels }) => ({
        message_id: mails[1]!.id,
        labels: ['INBOX', 'Label_1', labels.find(({ name }) => name === 'Paid')!.id],
      }),
    },
  },
  refusals: {
    notFound: { answer: google(404, 'NOT_FOUND', 'notFound', 'Requested entity was not found.'), failure: { type: 'not_found' } },
    forbidden: {
      answer: google(403, 'PERMISSION_DENIED', 'insufficientPermissions', 'Request had insufficient authentication scopes.'),
      failure: { type: 'forbidden', scope: null },
    },
    invalid: { answer: google(400, 'INVALID_ARGUMENT', 'invalidArgument', 'Invalid value'), failure: { type: 'invalid', field: null } },
    unavailable: { answer: google(503, 'UNAVAILABLE', 'backendError', 'Backend Error'), failure: { type: 'unavailable' } },
  },
  limited: {
    plain: google(403, 'PERMISSION_DENIED', 'userRateLimitExceeded', 'User Rate Limit Exceeded'),
    withRetryAfter: (value) => ({
      ...google(429, 'RESOURCE_EXHAUSTED', 'rateLimitExceeded', 'Too many concurrent requests for user'),
      headers: { 'retry-after': value },
    }),
  },
  pages: {
    tool: 'search_inbox',
    args: { query: 'Weekly', max_results: 7 },
    make(standIn) {
      standIn.pageSize = 3;
      for (let n = 1; n <= 9; n += 1) standIn.receive({ from: 'ann@example.com', subject: `Weekly ${n}`, parts: { 'text/plain': 'x' } });
    },
    check({ emails }, standIn) {
      const subjects = emails.map(({ subject }: { subject: string }) => subject);
      assert.deepEqual(
        subjects,
        [9, 8, 7, 6, 5, 4, 3].map((n) => `Weekly ${n}`),
      );
      assert.equal(standIn.requestsOf(/\/messages$/).length, 3);
    },
  },
});
