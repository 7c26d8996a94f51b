/** What the API reference says before its operations: what every caller needs to know once. Markdown. */

export const apiDescription = `
Give Troupe a prompt; it plans, sends AI agents to work with real tools, asks people before anything that cannot be taken back, streams
every step, and delivers files.

### Authentication

Send \`Authorization: Bearer <token>\` with an API key (\`mk_live_…\`, made by \`POST /api-keys\`) or the access token of a session
(\`POST /auth/register\` or \`/auth/login\`; good for 60 minutes). Each operation names the scope that a key needs. What belongs to another
account does not exist for you: 404.

### First task

\`POST /tasks {"prompt": "Summarise the attached report"}\` answers at once with status \`pending\`. Upload files to a workspace first and pass
its \`workspace_id\` to let agents read them. Follow the task on the WebSocket or by \`GET /tasks/{id}\`; fetch what it made from
\`GET /tasks/{id}/deliverables\`.

### Live events

Connect to \`/ws\` and send \`{"type": "auth", "token": "…"}\` within 10 seconds. The answer is \`{"type": "auth_ok", "account_id", "seq", "resumed"}\`,
then every event of your account follows as \`{"type": "event", "prev", "event": {"id", "seq", "type", "account_id", "created_at", "data"}}\`.
\`seq\` counts up by one for the account; \`prev\` is the \`seq\` of the event sent before this one, so you can see that none is missing. After a break
send \`resume_from\` with the last \`seq\` you have: what you missed is replayed, \`{"type": "replayed", "seq"}\` ends the replay. When that is too
old, \`{"type": "reset", "oldest_seq"}\` tells you to read the state anew. \`{"type": "subscribe", "topics": ["task:task_…", "type:approval.*"]}\`
narrows; \`{"type": "ping"}\` is answered with a pong. Close codes 4430 (too slow) and 1012 (leaving) mean reconnect and resume; 4400, 4401, 4408
and 4429 mean don't.

### Repeating requests

Send an \`Idempotency-Key\` with any POST: the same key and body within 24 hours has its effect once and gets the first answer again, with
\`Idempotency-Replayed: true\`. The same key with another body is 422; while the first still runs, 409.

### Errors

Errors are \`{"detail": "…"}\`. Invalid input is 422 with a list: \`{"detail": [{"loc", "msg", "type", "input", "ctx"}]}\`. 503 comes with
\`Retry-After\` and nothing was done; 504 means that it may have happened: ask again with the same Idempotency-Key. Every answer carries
\`X-Request-Id\`; send your own to find your requests in the logs.

### Paths

Every path is served with and without the prefix \`/v1\`. Where the two forms of an answer cannot be merged, \`/v1\` answers the first (the file
list of a workspace is an array) and the bare path the second (an object with \`files\` and \`total\`).
`;
