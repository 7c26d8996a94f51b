/**
 * The tools of GitHub, Stripe and Notion with stand-ins that these vendors' own clients use too: objects created by one are read by
 * the other. An error shared by tools and stand-in would fail the vendor's client.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client as NotionClient } from '@notionhq/client';
import { Octokit } from '@octokit/rest';
import Stripe from 'stripe';
import { github } from '../../../../src/domains/integrations/services/github.ts';
import { notion } from '../../../../src/domains/integrations/services/notion.ts';
import type { Service } from '../../../../src/domains/integrations/services/service.ts';
import { stripe } from '../../../../src/domains/integrations/services/stripe.ts';
import type { Json } from '../../../support/json.ts';
import type { Scope } from '../../../support/scope.ts';
import { directCall } from '../../../support/services/direct-call.ts';
import { GithubServer } from '../../../support/services/github-server.ts';
import { NotionServer } from '../../../support/services/notion-server.ts';
import { goodToken } from '../../../support/services/service-row.ts';
import type { ServiceStandIn } from '../../../support/services/service-stand-in.ts';
import { StripeAccountServer } from '../../../support/services/stripe-account-server.ts';

const repository = 'octo/hello';
const inHello = { owner: 'octo', repo: 'hello' };

type CallOptions = { callId?: string; isRepeat?: boolean };

async function opened<S extends ServiceStandIn>(standIn: S, service: Service, scopes: string[] = []) {
  standIn.tokens.set(goodToken, scopes);
  const tool = (name: string) => service.tools.find((one) => one.name === name)!;
  const callOf = (options: CallOptions = {}) => directCall(service, { apiUrl: standIn.apiUrl, token: goodToken, ...options });
  return {
    run: (name: string, args: object, options: CallOptions = {}): Promise<Json> => tool(name).run(args, callOf(options)),
    preview: (name: string, args: object) => tool(name).preview!(args, callOf()),
  };
}

function failing(type: string, field: string | null) {
  return ({ failure }: Json) => failure?.type === type && failure.field === field;
}

async function openGithub(t: Scope) {
  const server = await GithubServer.start(t);
  const hello = server.addRepository(repository);
  const octokit = new Octokit({ auth: goodToken, baseUrl: server.url, log: { debug() {}, info() {}, warn() {}, error() {} } });
  const tools = await opened(server, github, ['repo']);
  const run = (name: string, args: object, options?: CallOptions) => tools.run(name, { repository, ...args }, options);
  return { server, hello, octokit, run };
}

test('an issue that create_issue opens is what Octokit reads, and one of Octokit is what read_issue shows', async (t) => {
  const { octokit, run } = await openGithub(t);
  const { number, url } = await run('create_issue', { title: 'It breaks', body: 'Steps: **none**' });
  const { data: read } = await octokit.rest.issues.get({ ...inHello, issue_number: number });
  assert.deepEqual([read.title, read.body, read.html_url], ['It breaks', 'Steps: **none**', url]);

  const { data: theirs } = await octokit.rest.issues.create({ ...inHello, title: 'Second' });
  const shown = await run('read_issue', { number: theirs.number });
  assert.deepEqual(
    { title: shown.title, body: shown.body, comments: shown.comments, labels: shown.labels, state: shown.state, url: shown.url },
    { title: 'Second', body: '', comments: [], labels: ['bug'], state: 'open', url: theirs.html_url },
  );
});

test('read_issue shows the comments, and how many it leaves out', async (t) => {
  const { server, hello, run } = await openGithub(t);
  const texts = Array.from({ length: 101 }, (_, at) => `Comment ${at + 1}`);
  const { number } = server.addIssue(hello, 'Long', 'talk', texts);
  const shown = await run('read_issue', { number });
  assert.deepEqual([shown.comments.length, shown.more_comments, shown.comments[99].body], [100, 1, 'Comment 100']);
});

test('commit_files commits what Octokit commits by the same requests', async (t) => {
  const { server, hello, octokit, run } = await openGithub(t);
  const done = await run('commit_files', {
    branch: 'main',
    message: 'Ours',
    files: [
      { path: 'src/a.ts', content: 'α\n' },
      { path: 'README.md', content: '# New\n' },
    ],
  });
  assert.equal(done.committed, true);
  const { data: ref } = await octokit.rest.git.getRef({ ...inHello, ref: 'heads/main' });
  assert.equal(ref.object.sha, done.commit_sha);
  assert.deepEqual(server.filesOf(hello, 'main'), { 'README.md': '# New\n', 'src/a.ts': 'α\n' });

  const { data: parent } = await octokit.rest.git.getCommit({ ...inHello, commit_sha: ref.object.sha });
  const { data: blob } = await octokit.rest.git.createBlob({ ...inHello, content: 'b\n', encoding: 'utf-8' });
  const entry = { path: 'b.txt', mode: '100644', type: 'blob', sha: blob.sha } as const;
  const { data: tree } = await octokit.rest.git.createTree({ ...inHello, base_tree: parent.tree.sha, tree: [entry] });
  const made = { message: 'Theirs', tree: tree.sha, parents: [ref.object.sha] };
  const { data: commit } = await octokit.rest.git.createCommit({ ...inHello, ...made });
  await octokit.rest.git.updateRef({ ...inHello, ref: 'heads/main', sha: commit.sha });
  const read = await run('read_repository', { path: 'b.txt' });
  assert.deepEqual([read.path, read.content, read.size], ['b.txt', 'b\n', 2]);
});

test('commit_files begins a branch that does not exist at the head of the default branch', async (t) => {
  const { server, hello, run } = await openGithub(t);
  const done = await run('commit_files', { branch: 'fix/typo', message: 'Fix', files: [{ path: 'x', content: '1' }] });
  assert.deepEqual([done.committed, done.branch_created], [true, true]);
  assert.deepEqual(server.filesOf(hello, 'fix/typo'), { 'README.md': '# Hello\n', x: '1' });
  assert.deepEqual(server.filesOf(hello, 'main'), { 'README.md': '# Hello\n' });
});

test('commit_files commits again on the new head when another commit moves the branch meanwhile, and keeps that commit', async (t) => {
  const { server, hello, run } = await openGithub(t);
  server.beforeMove = () => {
    server.beforeMove = () => {};
    server.commit(hello, 'main', 'Theirs', { 'theirs.txt': 't' });
  };
  const done = await run('commit_files', { branch: 'main', message: 'Ours', files: [{ path: 'ours.txt', content: 'o' }] });
  assert.equal(done.committed, true);
  assert.deepEqual(server.filesOf(hello, 'main'), { 'README.md': '# Hello\n', 'theirs.txt': 't', 'ours.txt': 'o' });
});

test('commit_files fails with the reason when the branch moves a second time', async (t) => {
  const { server, hello, run } = await openGithub(t);
  let moves = 0;
  server.beforeMove = () => void server.commit(hello, 'main', 'Theirs', { 'theirs.txt': String(++moves) });
  const files = [{ path: 'ours.txt', content: 'o' }];
  await assert.rejects(run('commit_files', { branch: 'main', message: 'Ours', files }), failing('invalid', 'branch'));
  assert.equal(server.filesOf(hello, 'main')['ours.txt'], undefined);
});

test('commit_files repeated after its answer was lost makes no second commit', async (t) => {
  const { hello, run } = await openGithub(t);
  const commit = { branch: 'main', message: 'Once', files: [{ path: 'x', content: '1' }] };
  const first = await run('commit_files', commit);
  const commits = hello.commits.size;
  assert.deepEqual(await run('commit_files', commit, { isRepeat: true }), first);
  assert.equal(hello.commits.size, commits);
});

test('open_pull_request opens what Octokit reads, and repeated after its answer was lost returns the same', async (t) => {
  const { octokit, run } = await openGithub(t);
  await run('commit_files', { branch: 'work', message: 'Work', files: [{ path: 'x', content: '1' }] });
  const pull = { title: 'Work', head: 'work', base: 'main', body: 'Please' };
  const opened = await run('open_pull_request', pull);
  const { data: listed } = await octokit.rest.pulls.list({ ...inHello, state: 'open', head: 'octo:work' });
  assert.deepEqual(
    listed.map(({ number, html_url: url, body }) => ({ number, url, body })),
    [{ ...opened, body: 'Please' }],
  );
  assert.deepEqual(await run('open_pull_request', pull, { isRepeat: true }), opened);
  await assert.rejects(run('open_pull_request', pull), { message: /already exists for octo:work/ });
});

test('read_repository shows root, folders and files as Octokit does', async (t) => {
  const { server, hello, octokit, run } = await openGithub(t);
  server.commit(hello, 'main', 'More', { 'src/a.ts': 'a', 'src/b/c.ts': 'c', 'big.txt': 'x'.repeat(1_000_001) });
  const root = await run('read_repository', {});
  assert.deepEqual(
    [root.repository, root.default_branch, root.entries.map(({ path }: Json) => path)],
    [repository, 'main', ['README.md', 'big.txt', 'src']],
  );
  const { data: theirs } = await octokit.rest.repos.getContent({ ...inHello, path: 'src' });
  const folder = await run('read_repository', { path: '/src/' });
  assert.deepEqual(
    folder.entries.map(({ path }: Json) => path),
    (theirs as Json[]).map(({ path }) => path),
  );
  assert.equal((await run('read_repository', { path: 'README.md', ref: 'main' })).content, '# Hello\n');
  assert.match((await run('read_repository', { path: 'big.txt' })).note, /too large/);
});

test("no argument changes the path of GitHub's tools", async (t) => {
  const { server, run } = await openGithub(t);
  for (const [tool, args] of [
    ['read_repository', { repository: 'octo/..' }],
    ['read_repository', { path: '../../user' }],
    ['read_issue', { repository: '../hello', number: 1 }],
    ['commit_files', { branch: '../../x', message: 'm', files: [] }],
  ] as const)
    await assert.rejects(run(tool, args), { message: /may not/ });
  assert.deepEqual(server.requestsOf(/^(?!\/repos\/octo\/hello\/?)/), []);
  await assert.rejects(run('read_repository', { path: 'a?ref=b#c' }), { message: 'Not Found' });
  assert.equal(server.requests.at(-1)!.path, '/repos/octo/hello/contents/a%3Fref%3Db%23c');
});

async function openStripe(t: Scope) {
  const server = await StripeAccountServer.start(t);
  const { hostname, port } = new URL(server.url);
  const client = new Stripe(goodToken, { host: hostname, port: Number(port), protocol: 'http', telemetry: false, maxNetworkRetries: 0 });
  return { server, client, ...(await opened(server, stripe, ['read_write'])) };
}

test("payments that Stripe's client lists are those that list_payments shows, in units of their currency", async (t) => {
  const { server, client, run } = await openStripe(t);
  server.addPayment(1_250, 'usd', 'Book');
  server.addPayment(500, 'jpy');
  server.addPayment(1_230, 'kwd');
  const { data: theirs } = await client.paymentIntents.list({ limit: 2 });
  const { payments, has_more: hasMore } = await run('list_payments', { limit: 2 });
  assert.deepEqual(
    payments.map(({ id }: Json) => id),
    theirs.map(({ id }) => id),
  );
  assert.equal(hasMore, true);
  const all = (await run('list_payments', {})).payments.map(({ amount, currency, description }: Json) => [amount, currency, description]);
  assert.deepEqual(all, [
    [1.23, 'kwd', null],
    [500, 'jpy', null],
    [12.5, 'usd', 'Book'],
  ]);
});

test("a payment link of create_payment_link equals that of Stripe's client, whatever decimals its currency has", async (t) => {
  const { server, client, run } = await openStripe(t);
  for (const [at, [amount, currency, unitAmount]] of (
    [
      [19.99, 'usd', 1_999],
      [500, 'JPY', 500],
      [1.5, 'kwd', 1_500],
      [3, 'isk', 300],
    ] as const
  ).entries()) {
    const ours = await run('create_payment_link', { name: 'Book', amount, currency, quantity: 2 }, { callId: `call_${at}` });
    const priceData = { currency: currency.toLowerCase(), unit_amount: unitAmount, product_data: { name: 'Book' } };
    const theirs = await client.paymentLinks.create({ line_items: [{ price_data: priceData, quantity: 2 }] });
    const [made, expected] = [ours.id, theirs.id].map((id) => ({ ...server.links.find((link) => link.id === id), id: '', url: '' }));
    assert.deepEqual(made, expected);
  }
  for (const [amount, currency] of [
    [0.005, 'usd'],
    [1.5, 'jpy'],
    [1.005, 'kwd'],
    [1.5, 'isk'],
  ])
    await assert.rejects(run('create_payment_link', { name: 'Book', amount, currency }), failing('invalid', 'amount'));
});

test('a payment is refunded once, although the call is repeated', async (t) => {
  const { server, client, run } = await openStripe(t);
  const { id } = server.addPayment(5_000, 'usd');
  const first = await run('refund_payment', { payment_id: id, amount: 12.5 }, { callId: 'call_a' });
  assert.deepEqual(await run('refund_payment', { payment_id: id, amount: 12.5 }, { callId: 'call_a' }), first);
  assert.deepEqual([first.amount, first.currency, first.status, server.refunds.length], [12.5, 'usd', 'succeeded', 1]);
  const theirs = await client.refunds.create({ payment_intent: id, amount: 1_000 });
  assert.equal(theirs.amount, 1_000);
  const rest = await run('refund_payment', { payment_id: id }, { callId: 'call_b' });
  assert.equal(rest.amount, 27.5);
  await assert.rejects(run('refund_payment', { payment_id: id }, { callId: 'call_c' }), failing('invalid', 'amount'));
});

test('the approval of a refund shows the amount and the payment', async (t) => {
  const { server, preview } = await openStripe(t);
  const { id } = server.addPayment(5_000, 'usd', 'Two books');
  const text = await preview('refund_payment', { payment_id: id, amount: 12.5 });
  assert.equal(text, `Refund 12.5 USD of payment ${id} of 50 USD (Two books)`);
});

async function openNotion(t: Scope) {
  const server = await NotionServer.start(t);
  const client = new NotionClient({ auth: goodToken, baseUrl: server.url, notionVersion: '2026-03-11' });
  return { server, client, ...(await opened(server, notion)) };
}

test("pages that Notion's client creates are found and read, and those that create_page creates are read by it", async (t) => {
  const { server, client, run } = await openNotion(t);
  const home = server.addPage('Home', '');
  const title = { title: [{ text: { content: 'Plan A' } }] };
  const theirs = await client.pages.create({ parent: { page_id: home.id }, properties: { title }, markdown: '# One' });
  const { pages } = await run('search_pages', { query: 'plan' });
  assert.deepEqual(
    pages.map(({ id, title: shown }: Json) => [id, shown]),
    [[theirs.id, 'Plan A']],
  );
  const read = await run('read_page', { page_id: theirs.id });
  assert.deepEqual([read.title, read.content, read.truncated], ['Plan A', '# One', false]);

  const ours = await run('create_page', { parent_id: home.id, title: 'Plan B', content: '- two' });
  assert.equal((await client.pages.retrieveMarkdown({ page_id: ours.id })).markdown, '- two');
  const search = await client.search({ query: 'Plan', filter: { property: 'object', value: 'page' } });
  assert.equal(search.results.length, 2);
});

test("update_page replaces the content as Notion's client does, by an id or an address, and deletes no page below", async (t) => {
  const { server, client, run } = await openNotion(t);
  const page = server.addPage('Notes', 'old');
  await run('update_page', { page_id: `${page.url}?pvs=4`, content: 'new' });
  assert.equal((await client.pages.retrieveMarkdown({ page_id: page.id })).markdown, 'new');
  await client.pages.updateMarkdown({ page_id: page.id, type: 'replace_content', replace_content: { new_str: 'newer' } });
  assert.equal((await run('read_page', { page_id: page.id })).content, 'newer');
  server.addPage('Below', '', page.id);
  await assert.rejects(run('update_page', { page_id: page.id, content: '' }), failing('invalid', null));
});

test('the approval of update_page shows the page and the content that is lost', async (t) => {
  const { server, preview } = await openNotion(t);
  const page = server.addPage('Notes', 'old');
  const text = await preview('update_page', { page_id: page.id, content: 'new' });
  const what = `Replace the whole content of the page "Notes" (${page.url}).`;
  assert.equal(text, `${what} Everything that is on it now is removed, 3 characters:\nold\nThe new content:\nnew`);
  const long = server.addPage('Long', 'x'.repeat(9_000));
  const shortened = await preview('update_page', { page_id: long.id, content: 'new' });
  assert.match(shortened, /is removed, 9000 characters:\nx{500}…\nThe new content:\nnew$/);
  const empty = server.addPage('Empty', '');
  assert.match(await preview('update_page', { page_id: empty.id, content: 'new' }), /It is empty now\.\nThe new content:\nnew$/);
});
