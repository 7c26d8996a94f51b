/**
 * The general text of the API reference for the whole product: what every caller needs to know once. Markdown, where `{base_url}` is the
 * service's address.
 */

export const apiDescription = `
Give Troupe a prompt: it plans the work, sends AI agents to do it with real tools, asks a person before anything that cannot be taken back,
streams every step, and delivers files. Around the agents it keeps workspaces, integrations, virtual cards, purchase orders, a wallet, trading
and deployments, all behind this one API.

## First task in three steps

**1. Get a key.** Sign up, and make a key with the token you are answered:

\`\`\`sh
curl {base_url}/v1/auth/register \\
  -H 'Content-Type: application/json' \\
  -d '{"email": "ann@example.com",
       "password": "a long enough password"}'

curl {base_url}/v1/api-keys \\
  -H 'Authorization: Bearer <access_token>' \\
  -H 'Content-Type: application/json' \\
  -d '{"name": "first",
       "scopes": ["tasks.read", "tasks.write"]}'
\`\`\`

**2. Create a task** with the key. The answer comes at once, the work goes on by itself:

\`\`\`sh
curl {base_url}/v1/tasks \\
  -H 'Authorization: Bearer mk_live_…' \\
  -H 'Content-Type: application/json' \\
  -d '{"prompt": "List the first 20 primes"}'
\`\`\`

**3. Fetch what it made**, once \`GET /tasks/{id}\` says \`complete\`. Each file has a \`download_url\` that opens without a key for an hour:

\`\`\`sh
curl {base_url}/v1/tasks/task_…/deliverables \\
  -H 'Authorization: Bearer mk_live_…'
\`\`\`

Or stay here: paste a key or an access token into **Authentication** beside this text, open an operation and press **Test Request**. \`Bearer\` is added for you.

## Authentication

Send \`Authorization: Bearer <token>\`, where the token is one of

| | | |
|---|---|---|
| **API key** | \`mk_live_…\`, \`mk_test_…\` | for programs; made by \`POST /api-keys\`, shown once, does what its scopes allow. A test key moves no real money and deploys nothing: its wallet, cards and orders are of a test mode of their own, marked \`mode: "test"\` |
| **Access token** | \`v4.public.…\` | for people; answered by \`POST /auth/register\`, \`/auth/login\` and \`/auth/refresh\`, good for 60 minutes, holds every scope |

Each operation names the scope that a key needs. What belongs to another account does not exist for you: 404. A revoked key and an ended session are
refused within a second. Browsers may use cookies instead (\`POST /auth/session\`); with them, whatever changes something needs the header
\`X-CSRF-Token\` too.

## Limits

Every answer contains the state of your rate limit: \`X-RateLimit-Limit\` requests a minute, \`X-RateLimit-Remaining\` of them now, all of them again in
\`X-RateLimit-Reset\` seconds. Requests beyond it get 429 with \`Retry-After\`.

| plan | a minute | at once | sockets | tasks |
|---|---|---|---|---|
| free | 60 | 10 | 1 | 1 |
| pro | 300 | 50 | 5 | 5 |
| power | 1,000 | 100 | 20 | 20 |
| business | 5,000 | 500 | 100 | any |

A limit counts for each key, for a person by all sessions together, and for the whole cluster; without a limit both figures are 2147483647. All
keys and sessions of an account together have five times the limit of one; the headers show the limit that is nearer. Download links count toward their account,
apart from its keys. Requests without a token count by address, and so do those whose token is refused. JSON bodies hold up to 1 MiB, uploads 50 MiB.

## Repeating requests safely

Send an \`Idempotency-Key\` (any text of 1 to 255 characters, e.g. a UUID) with a POST. The same key with the same request has its effect once, within 24 hours, whatever is
repeated, at whichever node, also after a crash; the repeat is answered as the first was, with \`Idempotency-Replayed: true\`. The same key with another
request is 422 (of an upload the file counts too); while the first still runs, 409.

## Errors

Errors are \`{"detail": "…"}\`, a sentence for people. Invalid input is 422 with a list, one entry a field:

\`\`\`json
{
  "detail": [
    {
      "loc": ["body", "prompt"],
      "msg": "Field required", "type": "missing",
      "input": null, "ctx": {}
    }
  ]
}
\`\`\`

| status | what to do |
|---|---|
| 400, 413, 415, 422 | change the request |
| 401, 403 | use another token |
| 402 | change the plan |
| 404 | check the id: the resource does not exist, or belongs to another account |
| 409 | read the resource's state first |
| 429, 503 | wait \`Retry-After\` seconds; nothing was done |
| 500 | report the \`X-Request-Id\` |
| 504 | it may have been done: repeat it with the same \`Idempotency-Key\` |

Every answer carries \`X-Request-Id\`; send your own to find your requests in the logs. What you have already comes as 304 when you send its \`ETag\` as \`If-None-Match\`.

## Live events

Open a WebSocket at \`/v1/ws\` and send, within 10 seconds:

\`\`\`json
{"type": "auth", "token": "mk_live_…"}
\`\`\`

You are answered \`{"type": "auth_ok", "account_id", "seq", "resumed"}\`, then every event of your account as it happens (of cards, orders and the wallet those
of your key's mode):

\`\`\`json
{
  "type": "event",
  "prev": 41,
  "event": {
    "id": "evt_…", "seq": 42,
    "type": "agent.action", "account_id": "acct_…",
    "created_at": "…", "data": {}
  }
}
\`\`\`

\`seq\` grows by one with each event of the account. \`prev\` is the \`seq\` of the event sent before this one, so you can see that you missed none. After a break send
\`"resume_from": 42\` with \`auth\`: the missed events are replayed, then \`{"type": "replayed", "seq"}\` is sent, then new events. Events are kept for seven days;
if older ones are needed, \`{"type": "reset", "oldest_seq"}\` is sent: read the state again. \`{"type": "subscribe", "topics": ["task:task_…", "type:approval.*"]}\` narrows the stream, \`{"type": "ping"}\`
is answered with a pong. A stream lives as long as its session or key: that an access token expires does not end it. \`examples/follow-events.mjs\` is a client that
does all this.

| closed with | |
|---|---|
| 4430 too slow, 1012 the node leaves, 1006 the connection broke | connect again and resume; nothing is lost |
| 4400 bad message, 4401 bad token, 4408 no \`auth\`, 4429 too many | do not |

## Webhooks

Events also come by POST to an address of yours (\`POST /api-keys/webhooks\`): at least once, in order for each task, tried again for 24 hours. Verify each one with
the secret you were shown:

\`\`\`js
import { createHmac, timingSafeEqual } from 'node:crypto';

// secret: "whsec_…"; body: the bytes as they came;
// header: X-Troupe-Signature, "t=1772357400,v1=5f2b…"
function isGenuine(secret, body, header) {
  const key = Buffer.from(secret.slice(6), 'base64');
  const parts = header.split(',').map((part) => part.split('='));
  const sentAt = parts.find(([name]) => name === 't')[1];
  if (Math.abs(Date.now() / 1000 - sentAt) > 300) return false;

  const expected = createHmac('sha256', key)
    .update(sentAt + '.').update(body).digest();
  return parts
    .filter(([name]) => name === 'v1')
    .map(([, value]) => Buffer.from(value, 'hex'))
    .some((given) => given.length === expected.length
      && timingSafeEqual(given, expected));
}
\`\`\`

Each delivery carries the headers of [Standard Webhooks](https://www.standardwebhooks.com) as well, \`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\`, so its
libraries verify it, too. The same \`webhook-id\` is the same event: take it once.

## Paths and forms

Every path is served with and without the prefix \`/v1\`. Where two forms of an answer cannot be merged, \`/v1\` answers the first (the file list of a workspace
is an array) and the bare path the second (an object with \`files\` and \`total\`). Ids are a prefix and 26 characters, times are ISO 8601 in UTC, money is a number of
major units with at most two decimals. Lists take \`limit\` and \`offset\`, newest first. Unknown fields are ignored.
`;
