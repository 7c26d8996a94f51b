/**
 * The Redis script for the bucket of one caller, which the nodes of a cluster share. A node asks for tokens for waiting requests and, if
 * the caller is busy, for a lease of further tokens, which the node then grants itself. The script uses Redis's clock.
 *
 * R1 The spent amount is never less than the tokens that nodes still hold, so level + outstanding never exceeds the capacity.
 * R2 A lease is at most level / (2 × nodes) and expires; unused tokens stay spent unless the node returns them before.
 * R3 A new bucket, created because a minute has passed or because Redis lost the old one, starts from the state of the old one that the
 *    first asking nodes report.
 *
 * bucket: hash of `spent` (millionths of a token), `at` (Redis's clock), `perMinute` (the refill rate since then), `born` (who created it)
 * and `lease/<node>`: tokens held, expiry, and number of the node's latest query. It expires when it would be full.
 */

export type RateAsk = {
  /** The incarnation of the node that asks. */
  node: string;
  /** Number of the query, larger than those of all earlier ones; Redis ignores a query that arrives after a later one. */
  n: number;
  perMinute: number;
  nodes: number;
  /** Tokens for waiting requests. */
  want: number;
  /** Tokens for expected requests. */
  expected: number;
  /** Tokens that the node holds and keeps. */
  held: number;
  /** Tokens that the node returns. */
  back: number;
  leaseMs: number;
  /** The last known state of the bucket: who created it, and the amount that is still spent now. */
  born: string;
  spent: number;
  /** Tokens granted without Redis while it was unavailable. */
  debt: number;
};

export type RateReply = {
  granted: number;
  spent: number;
  born: string /** Microseconds until a token is available; 0 if one is. */;
  waitUs: number;
};

const fullAgainMs = 61_000;

/** @param clock Lua expression for the result of Redis's TIME; another one only in tests */
export function rateScript(clock = "redis.call('TIME')"): string {
  return `
local ask = cjson.decode(ARGV[1])
local time = ${clock}
local nowUs = time[1] * 1000000 + time[2]
local token = 1000000
local fields = redis.call('HGETALL', KEYS[1])
local bucket, held = {}, 0
local own = 0
for i = 1, #fields, 2 do
  local node = string.match(fields[i], '^lease/(.*)$')
  if node then
    local tokens, untilUs, n = string.match(fields[i + 1], '^(%d+) (%d+) (%d+)$')
    local lasts = tonumber(untilUs) > nowUs
    if node == ask.node then
      if tonumber(n) >= ask.n then return {0, string.format('%.0f', ask.spent), ask.born, 0} end
      if lasts then own = tonumber(tokens) end
    elseif lasts then
      held = held + tonumber(tokens)
    else
      redis.call('HDEL', KEYS[1], fields[i])
    end
  else
    bucket[fields[i]] = fields[i + 1]
  end
end
local born = bucket.born or (ask.node .. ' ' .. ask.n)
local elapsedUs = math.max(0, math.min(nowUs - tonumber(bucket.at or nowUs), 60000000))
local spent = math.max(0, tonumber(bucket.spent or 0) - math.floor(elapsedUs * (bucket.perMinute or ask.perMinute) / 60))
if born ~= ask.born then spent = math.max(spent, ask.spent) end
spent = spent + ask.debt - math.min(ask.back, own) * token
local capacity = ask.perMinute * token
spent = math.max((held + ask.held) * token, math.min(spent, capacity), 0)
local level = math.max(0, math.floor((capacity - spent) / token))
local lease = math.min(ask.want + ask.expected, math.floor(level / (2 * ask.nodes)))
local granted = math.max(math.min(ask.want, level), ask.expected > 0 and lease or 0)
spent = spent + granted * token
local waitUs = 0
if spent + token > capacity then
  waitUs = ask.perMinute > 0 and math.ceil((spent + token - capacity) * 60 / ask.perMinute) or 60000000
end
redis.call('HSET', KEYS[1], 'spent', string.format('%.0f', spent), 'at', string.format('%.0f', nowUs), 'born', born,
  'perMinute', string.format('%.0f', ask.perMinute), 'lease/' .. ask.node,
  string.format('%.0f %.0f %.0f', ask.held + granted, nowUs + ask.leaseMs * 1000, ask.n))
redis.call('PEXPIRE', KEYS[1], ${fullAgainMs} + ask.leaseMs)
return {granted, string.format('%.0f', spent), born, waitUs}
`;
}

export function rateReplyOf(reply: unknown): RateReply {
  const [granted, spent, born, waitUs] = reply as [number, string, string, number];
  return { granted, spent: Number(spent), born, waitUs };
}
