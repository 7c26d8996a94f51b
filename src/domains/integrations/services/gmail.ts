/** Gmail: mails of one mailbox are read, drafted, sent and labelled. */
import Type from 'typebox';
import { labelIds } from './gmail-labels.ts';
import { shownHeaders, shownMail } from './gmail-mail.ts';
import { type Mailed, messages, saveDraft, sendMail } from './gmail-sending.ts';
import { googleFailure, googleOAuth } from './google-failures.ts';
import { pagesUpTo } from './pages.ts';
import { pathSegment } from './path-segment.ts';
import { type Fields, fieldsOf, listOf, requiredFields, textOf, textsOf } from './read-answer.ts';
import { defineService, type ServiceCall } from './service.ts';
import { ServiceFailed } from './service-failure.ts';

const title = 'Gmail';
const scope = (name: string) => `https://www.googleapis.com/auth/gmail.${name}`;
const reading = [scope('readonly'), scope('modify')];

const defaultMails = 10;
const maxMails = 50;
/** Mails that are fetched at once. */
const together = 5;
const listPage = 100;

const count = Type.Optional(
  Type.Integer({ minimum: 1, maximum: maxMails, description: `How many, newest first; default ${defaultMails}` }),
);
const written = Type.Object({
  to: Type.String({ minLength: 3, maxLength: 2_000, description: 'One address such as ann@example.com, or several with commas between' }),
  subject: Type.String({
    minLength: 1,
    maxLength: 300,
    description: 'One line; for a reply the subject of the thread with "Re: " before it',
  }),
  body: Type.String({ minLength: 1, maxLength: 200_000, description: 'Plain text; write it out completely' }),
  thread_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'To reply: the thread_id of the mail that is answered' }),
  ),
});

export const gmail = defineService({
  name: 'gmail',
  title,
  shapeSeen: '2026-11-23',
  shapeSource: '@googleapis/gmail 22.0.1 (discovery revision of Gmail API v1)',
  apiUrl: 'https://gmail.googleapis.com',
  headers: {},
  oauth: googleOAuth,
  takesApiKey: false,
  identity: { method: 'GET', path: '/gmail/v1/users/me/profile' },
  failureIn: googleFailure,
  tools: [
    {
      name: 'read_emails',
      description:
        'Reads mails of the connected Gmail mailbox with their text: the newest of the inbox, or those that a Gmail search finds in the whole mailbox. Returns {emails: [{id, thread_id, from, to, subject, date, labels, snippet, body, attachments}]}.',
      parameters: Type.Object({
        max_results: count,
        query: Type.Optional(
          Type.String({ maxLength: 1_000, description: 'Search of Gmail, such as "from:ann@example.com is:unread newer_than:7d"' }),
        ),
      }),
      scopes: reading,
      writes: false,
      highConsequence: false,
      untrusted: true,
      repeatable: true,
      async run({ max_results: max = defaultMails, query }: { max_results?: number; query?: string }, call) {
        const found = await findMails({ q: query, labelIds: query ? undefined : 'INBOX' }, max, call);
        return { emails: await eachMail(found, async (id) => shownMail(await getMail(id, 'full', call))) };
      },
    },
    {
      name: 'search_inbox',
      description:
        'Searches the inbox of the connected Gmail mailbox. Returns {emails: [{id, thread_id, from, to, subject, date, labels, snippet}]}, newest first, without their text; read_emails reads the text.',
      parameters: Type.Object({
        query: Type.String({ minLength: 1, maxLength: 1_000, description: 'Search of Gmail, such as "subject:invoice after:2026/01/31"' }),
        max_results: count,
      }),
      scopes: reading,
      writes: false,
      highConsequence: false,
      untrusted: true,
      repeatable: true,
      async run({ query, max_results: max = defaultMails }: { query: string; max_results?: number }, call) {
        const found = await findMails({ q: query, labelIds: 'INBOX' }, max, call);
        return { emails: await eachMail(found, async (id) => shownHeaders(await getMail(id, 'metadata', call))) };
      },
    },
    {
      name: 'draft_email',
      description:
        'Saves a draft in the connected Gmail mailbox; nothing is sent. Returns {draft_id, message_id, thread_id}. Use it where a person should look over a mail before it goes out.',
      parameters: written,
      scopes: [scope('compose')],
      writes: true,
      highConsequence: false,
      untrusted: false,
      repeatable: true,
      async run(mail: Mailed, call) {
        const { id, ...rest } = await saveDraft(checked(mail), call);
        return { draft_id: id, ...rest };
      },
    },
    {
      name: 'send_email',
      description:
        'Sends a plain-text mail from the connected Gmail mailbox and returns {id, thread_id, status}. It reaches real people: send only what the task asks for, once, and finished. The user may have to approve it first.',
      parameters: written,
      scopes: [scope('send')],
      writes: true,
      highConsequence: true,
      untrusted: false,
      repeatable: true,
      async run(mail: Mailed, call) {
        return { ...(await sendMail(checked(mail), call)), to: mail.to, subject: mail.subject, status: 'sent' };
      },
    },
    {
      name: 'manage_labels',
      description:
        'Adds labels to a mail of the connected Gmail mailbox and removes labels from it. INBOX, UNREAD, STARRED, IMPORTANT, SPAM and TRASH are labels too: removing INBOX archives, removing UNREAD marks as read. A label to add that does not exist is created. Returns {message_id, labels}.',
      parameters: Type.Object({
        message_id: Type.String({ minLength: 1, maxLength: 100, description: 'The id of the mail, not of its thread' }),
        add: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 225 }), { maxItems: 100, description: 'Names of labels' })),
        remove: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 225 }), { maxItems: 100, description: 'Names of labels' })),
      }),
      scopes: [scope('modify')],
      writes: true,
      highConsequence: false,
      untrusted: false,
      repeatable: true,
      async run({ message_id: id, add = [], remove = [] }: { message_id: string; add?: string[]; remove?: string[] }, call) {
        if (add.length + remove.length === 0) throw invalid('Name labels in add or remove', 'add');
        const { addIds, removeIds } = await labelIds(add, remove, call);
        const { body } = await call.request({
          method: 'POST',
          path: `${messages}/${pathSegment(id, 'message_id')}/modify`,
          json: { addLabelIds: addIds, removeLabelIds: removeIds },
          repeatable: true,
        });
        return { message_id: id, labels: textsOf(fieldsOf(body).labelIds) };
      },
    },
  ],
});

async function findMails(filter: { q?: string; labelIds?: string }, max: number, call: ServiceCall): Promise<string[]> {
  const { items } = await pagesUpTo(max, async (pageToken, missing) => {
    const query = { ...filter, maxResults: Math.min(missing, listPage), pageToken };
    const { body } = await call.request({ method: 'GET', path: messages, query });
    const page = requiredFields(body, title);
    const ids = listOf(page.messages, title).map(({ id }) => textOf(id));
    return { items: ids.filter((id) => id !== undefined), next: textOf(page.nextPageToken) };
  });
  return items;
}

async function getMail(id: string, format: 'full' | 'metadata', call: ServiceCall): Promise<Fields> {
  const { body } = await call.request({
    method: 'GET',
    path: `${messages}/${pathSegment(id, 'id')}`,
    query: { format },
    limit: 'messages.get',
  });
  return requiredFields(body, title);
}

/** In the order of `ids`, without mails that were deleted since they were listed. */
async function eachMail<T>(ids: string[], read: (id: string) => Promise<T>): Promise<T[]> {
  const mails: T[] = [];
  for (let at = 0; at < ids.length; at += together) {
    const some = await Promise.all(ids.slice(at, at + together).map((id) => read(id).catch(nullIfDeleted)));
    mails.push(...some.filter((mail) => mail !== null));
  }
  return mails;
}

function nullIfDeleted(error: unknown): null {
  if (error instanceof ServiceFailed && error.failure.type === 'not_found') return null;
  throw error;
}

function checked(mail: Mailed): Mailed {
  const addresses = mail.to.split(',').map((address) => address.trim());
  const wrong = addresses.find((address) => !/^[^\s@<>"]+@[^\s@<>"]+$/.test(address));
  if (wrong !== undefined) throw invalid(`"${wrong.slice(0, 100)}" is no mail address. Nothing was sent`, 'to');
  if (/[\r\n]/.test(mail.subject)) throw invalid('The subject must be one line. Nothing was sent', 'subject');
  return { ...mail, to: addresses.join(', ') };
}

function invalid(message: string, field: string): ServiceFailed {
  return new ServiceFailed({ type: 'invalid', message, field });
}
