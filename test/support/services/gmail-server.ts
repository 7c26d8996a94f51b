/** Speaks like the Gmail API v1: a mailbox with messages, threads, drafts and labels. Shapes from @googleapis/gmail 22.0.1, seen 2026-11-23. */
import type { Json } from '../json.ts';
import { type ServiceRequest, ServiceStandIn, type StandInAnswer } from './service-stand-in.ts';

const scope = (name: string) => `https://www.googleapis.com/auth/gmail.${name}`;
/** Scopes by method and path, each one that suffices. */
const rights: [RegExp, string[]][] = [
  [/^POST \/messages\/send$/, ['send', 'compose', 'modify']],
  [/^POST \/messages\/[^/]+\/modify$/, ['modify']],
  [/^GET \/(messages|threads)/, ['readonly', 'modify']],
  [/^GET \/drafts/, ['readonly', 'compose', 'modify']],
  [/^POST \/drafts/, ['compose', 'modify']],
  [/^GET \/labels$/, ['readonly', 'modify', 'labels']],
  [/^POST \/labels$/, ['modify', 'labels']],
  [/^GET \/profile$/, ['readonly', 'compose', 'modify']],
];

export type StoredMail = { id: string; threadId: string; labelIds: string[]; internalDate: string; payload: Json; messageId: string };

export class GmailServer extends ServiceStandIn {
  readonly mails: StoredMail[] = [];
  readonly drafts: { id: string; mail: StoredMail }[] = [];
  readonly labels = [
    { id: 'INBOX', name: 'INBOX', type: 'system' },
    { id: 'UNREAD', name: 'UNREAD', type: 'system' },
    { id: 'Label_1', name: 'Invoices', type: 'user' },
  ];
  /** Most messages of one page of a list. */
  pageSize = 500;
  private made = 0;

  get sent(): StoredMail[] {
    return this.mails.filter(({ labelIds }) => labelIds.includes('SENT'));
  }

  /** A mail in the inbox, as from someone outside. `parts`: text by MIME type. */
  receive(mail: {
    from: string;
    subject: string;
    parts: Record<string, string>;
    messageId?: string;
    threadId?: string;
    attachment?: string;
  }): StoredMail {
    const id = this.newId();
    const messageId = mail.messageId ?? `<${id}@example.com>`;
    const parts: Json[] = Object.entries(mail.parts).map(([mimeType, text], n) => ({
      partId: String(n),
      mimeType,
      filename: '',
      headers: [{ name: 'Content-Type', value: `${mimeType}; charset=UTF-8` }],
      body: { size: Buffer.byteLength(text), data: Buffer.from(text).toString('base64url') },
    }));
    if (mail.attachment !== undefined)
      parts.push({
        partId: '9',
        mimeType: 'application/pdf',
        filename: mail.attachment,
        headers: [],
        body: { size: 9, attachmentId: 'att-1' },
      });
    const headers = [
      { name: 'From', value: mail.from },
      { name: 'To', value: 'me@example.com' },
      { name: 'Subject', value: mail.subject },
      { name: 'Message-ID', value: messageId },
    ];
    const payload =
      parts.length === 1
        ? { ...parts[0], headers: [...headers, ...parts[0].headers] }
        : { mimeType: 'multipart/mixed', filename: '', headers, body: { size: 0 }, parts };
    const stored = {
      id,
      threadId: mail.threadId ?? id,
      labelIds: ['INBOX', 'UNREAD'],
      internalDate: String(Date.UTC(2026, 10, 1) + this.made),
      payload,
      messageId,
    };
    this.mails.push(stored);
    return stored;
  }

  protected answer({ method, path, query, body, scopes }: ServiceRequest): StandInAnswer {
    if (scopes === null) return refused(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.', 'authError');
    const own = /^\/gmail\/v1\/users\/me(\/.*)$/.exec(path)?.[1];
    const right = rights.find(([form]) => form.test(`${method} ${own}`));
    if (own === undefined || right === undefined) return refused(404, 'NOT_FOUND', 'Requested entity was not found.', 'notFound');
    if (!right[1].some((name) => scopes.includes(scope(name))))
      return {
        ...refused(403, 'PERMISSION_DENIED', 'Request had insufficient authentication scopes.', 'insufficientPermissions'),
        headers: {
          'www-authenticate': `Bearer realm="r", error="insufficient_scope", scope="https://mail.google.com/ ${scope(right[1][0]!)}"`,
        },
      };
    const [, kind, id, action] = own.split('/');
    if (kind === 'profile')
      return ok({ emailAddress: 'me@example.com', messagesTotal: this.mails.length, threadsTotal: 1, historyId: '1' });
    if (kind === 'labels') return method === 'GET' ? ok({ labels: this.labels }) : this.createLabel(body);
    if (kind === 'drafts') return method === 'GET' ? this.listDrafts(query) : this.createDraft(body);
    if (kind === 'threads') return this.thread(id!);
    if (id === 'send') return this.send(body);
    if (id === undefined) return this.list(query);
    const mail = this.mails.find((one) => one.id === id);
    if (mail === undefined) return refused(404, 'NOT_FOUND', 'Requested entity was not found.', 'notFound');
    return action === 'modify' ? this.modify(mail, body) : ok(shown(mail, query.get('format') ?? 'full'));
  }

  private list(query: URLSearchParams): StandInAnswer {
    const labels = query.getAll('labelIds');
    const found = this.mails
      .filter((mail) => labels.every((label) => mail.labelIds.includes(label)) && matches(mail, query.get('q') ?? ''))
      .reverse();
    const from = Number(query.get('pageToken') ?? 0);
    const to = from + Math.min(Number(query.get('maxResults') ?? 100), this.pageSize);
    const messages = found.slice(from, to).map(({ id, threadId }) => ({ id, threadId }));
    return ok({
      ...(messages.length > 0 && { messages }),
      ...(to < found.length && { nextPageToken: String(to) }),
      resultSizeEstimate: found.length,
    });
  }

  private thread(id: string): StandInAnswer {
    const messages = this.mails.filter(({ threadId }) => threadId === id);
    if (messages.length === 0) return refused(404, 'NOT_FOUND', 'Requested entity was not found.', 'notFound');
    return ok({ id, historyId: '1', messages: messages.map((mail) => shown(mail, 'metadata')) });
  }

  private send(message: Json): StandInAnswer {
    const written = this.read(message);
    if (written === null) return refused(400, 'INVALID_ARGUMENT', 'Recipient address required', 'invalidArgument');
    const mail = { ...written, labelIds: ['SENT'] };
    this.mails.push(mail);
    return ok({ id: mail.id, threadId: mail.threadId, labelIds: mail.labelIds });
  }

  private createDraft({ message }: Json): StandInAnswer {
    const written = this.read(message);
    if (written === null) return refused(400, 'INVALID_ARGUMENT', 'Missing draft message', 'invalidArgument');
    const draft = { id: `r-${this.newId()}`, mail: { ...written, labelIds: ['DRAFT'] } };
    this.drafts.push(draft);
    return ok(shownDraft(draft));
  }

  private listDrafts(query: URLSearchParams): StandInAnswer {
    const found = this.drafts.filter(({ mail }) => matches(mail, query.get('q') ?? ''));
    return ok({ ...(found.length > 0 && { drafts: found.map(shownDraft) }), resultSizeEstimate: found.length });
  }

  private createLabel({ name }: Json): StandInAnswer {
    if (this.labels.some((label) => label.name === name)) return refused(409, 'ABORTED', 'Label name exists or conflicts', 'aborted');
    const label = { id: `Label_${this.labels.length}`, name, type: 'user' };
    this.labels.push(label);
    return ok(label);
  }

  private modify(mail: StoredMail, { addLabelIds = [], removeLabelIds = [] }: Json): StandInAnswer {
    const unknown = [...addLabelIds, ...removeLabelIds].find((id: string) => !this.labels.some((label) => label.id === id));
    if (unknown !== undefined) return refused(400, 'INVALID_ARGUMENT', `Invalid label: ${unknown}`, 'invalidArgument');
    mail.labelIds = [...new Set([...mail.labelIds, ...addLabelIds])].filter((id) => !removeLabelIds.includes(id));
    return ok({ id: mail.id, threadId: mail.threadId, labelIds: mail.labelIds });
  }

  /** A message as it was sent: it joins the thread only where its headers refer to a message of it. */
  private read({ raw, threadId }: Json): StoredMail | null {
    if (typeof raw !== 'string' || /[+/=]/.test(raw)) return null;
    const [head = '', ...rest] = Buffer.from(raw, 'base64url').toString().split('\r\n\r\n');
    const headers = head
      .replace(/\r\n[ \t]+/g, ' ')
      .split('\r\n')
      .map((line) => ({ name: line.slice(0, line.indexOf(':')), value: line.slice(line.indexOf(':') + 1).trim() }));
    const header = (name: string) => headers.find((one) => one.name.toLowerCase() === name.toLowerCase())?.value ?? '';
    if (header('To') === '') return null;
    const id = this.newId();
    const refers = this.mails.some((mail) => mail.threadId === threadId && header('References').includes(mail.messageId));
    const payload = {
      mimeType: 'text/plain',
      filename: '',
      headers,
      body: { data: Buffer.from(rest.join('\r\n\r\n')).toString('base64url') },
    };
    return {
      id,
      threadId: refers ? threadId : id,
      labelIds: [],
      internalDate: String(Date.UTC(2026, 10, 2)),
      payload,
      messageId: header('Message-ID'),
    };
  }

  private newId(): string {
    this.made += 1;
    return (0x19a000000000 + this.made).toString(16);
  }
}

function shown(mail: StoredMail, format: string) {
  const { headers, mimeType } = mail.payload;
  const common = {
    id: mail.id,
    threadId: mail.threadId,
    labelIds: mail.labelIds,
    snippet: 'the first words',
    internalDate: mail.internalDate,
    sizeEstimate: 1_000,
  };
  return { ...common, payload: format === 'metadata' ? { mimeType, headers } : mail.payload };
}

function shownDraft({ id, mail }: { id: string; mail: StoredMail }) {
  return { id, message: { id: mail.id, threadId: mail.threadId, labelIds: mail.labelIds } };
}

/** The part of Gmail's search that is used here: `rfc822msgid:`, `from:` and words of the subject. */
function matches(mail: StoredMail, q: string): boolean {
  const header = (name: string) => String(mail.payload.headers.find((one: Json) => one.name === name)?.value ?? '').toLowerCase();
  return q
    .split(/\s+/)
    .filter((term) => term !== '')
    .every((term) => {
      const [, key, value] = /^(rfc822msgid|from):(.+)$/.exec(term) ?? [];
      if (key === 'rfc822msgid') return mail.messageId === `<${value}>`;
      return key === 'from' ? header('From').includes(value!.toLowerCase()) : header('Subject').includes(term.toLowerCase());
    });
}

function ok(json: unknown): StandInAnswer {
  return { status: 200, json };
}

function refused(code: number, status: string, message: string, reason: string): StandInAnswer {
  return { status: code, json: { error: { code, message, status, errors: [{ message, domain: 'global', reason }] } } };
}
