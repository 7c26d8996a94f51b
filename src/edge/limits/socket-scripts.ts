/**
 * The number of WebSocket connections of each caller on each node of a cluster, in Redis. A node's counts are one hash, which expires with its lease unless
 * the node renews it. So the counts of a dead node end with its lease, and renewing costs one command for any number of sockets.
 *
 * <key>: set of nodes. <key>/<node>: hash of caller → count, and an entry '' so that the hash exists while the node has no connections.
 */

/** `missing`: Redis has lost this node's counts; the node must send them again. */
export type OpenAnswer = 'open' | 'full' | 'missing';

export type OpenAsk = { node: string; caller: string /** Connections that this node has already. */; have: number; limit: number };
export type ReportAsk = {
  node: string;
  counts: Record<string, number> /** Whether these are all counts. */;
  all: boolean;
  leaseMs: number;
};

/** Counts one more connection if all nodes together have fewer than the limit. */
const open = `
local ask = cjson.decode(ARGV[1])
local own = KEYS[1] .. '/' .. ask.node
if redis.call('EXISTS', own) == 0 then return 'missing' end
local others = 0
for _, node in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  if node ~= ask.node then
    local counts = KEYS[1] .. '/' .. node
    if redis.call('EXISTS', counts) == 0 then redis.call('SREM', KEYS[1], node) end
    others = others + tonumber(redis.call('HGET', counts, ask.caller) or 0)
  end
end
if others + ask.have >= ask.limit then return 'full' end
redis.call('HSET', own, ask.caller, ask.have + 1)
return 'open'
`;

/** Sets the current counts of this node, and renews its lease. */
const report = `
local ask = cjson.decode(ARGV[1])
local own = KEYS[1] .. '/' .. ask.node
if not ask.all and redis.call('EXISTS', own) == 0 then return 'missing' end
redis.call('SADD', KEYS[1], ask.node)
redis.call('HSET', own, '', 0)
for caller, count in pairs(ask.counts) do
  if count == 0 then redis.call('HDEL', own, caller) else redis.call('HSET', own, caller, count) end
end
redis.call('PEXPIRE', own, ask.leaseMs)
return 'reported'
`;

const leave = `
local ask = cjson.decode(ARGV[1])
redis.call('SREM', KEYS[1], ask.node)
redis.call('DEL', KEYS[1] .. '/' .. ask.node)
return 'left'
`;

export const socketScripts = { troupe_socket_open: open, troupe_socket_report: report, troupe_socket_leave: leave };
