/**
 * The cluster's data in Redis, and the only steps that change it. Each step is one Lua script, so it is atomic.
 *
 * Time is the cluster's own: `servedMs` grows with Redis's clock, but from one script to the next by at most one renewal interval. So it
 * does not advance while Redis is paused or unreachable, and jumps of Redis's clock do not count: in each of these cases no node could have
 * renewed. It starts with 0 when a generation is created, so it is also the generation's age.
 *
 * state: hash of `generation` (random, new when Redis lost its data), `number` (of the view), `servedMs`, `nowMs` (Redis's clock at the
 * latest script), `size` (number of members) and the shared settings. members: incarnation → record, as JSON. counts: incarnation →
 * renewals. heard: incarnation by `servedMs` of its latest renewal. gone: expelled incarnations, by time. waiting: name → record, while a
 * generation is too young to know all members. drains: incarnations that were asked to leave.
 */
import type { Member } from './member.ts';

export type ProtocolRange = { lowest: number; highest: number };

/** A member as stored in Redis. */
export type MemberRecord = Omit<Member, 'unreachable'> & {
  protocol: ProtocolRange;
  /** The field `unreachable` of `Member`, under the name that all versions store. */
  unheard?: readonly string[];
};

/**
 * Settings that all nodes must share. The digest is of the SECRET_KEY, and does not reveal it; Redis stores that of the node admitted last.
 * `network` identifies where the announced addresses have the same meaning: one machine for loopback addresses.
 */
export type SharedSettings = { shardCount: number; secretKeyDigest: string; network: string };

/** Digests of other keys that nodes may have while the key is being changed. */
export type AcceptedDigests = { acceptedDigests: readonly string[] };

/** What a node sends with every script, besides the arguments. */
export type Ask = SharedSettings &
  AcceptedDigests & {
    incarnation: string;
    record: string;
    /** Its renewals so far, including this one. */
    count: number;
    /** Of the known view and generation. */
    number: number;
    generation: string;
    /** For a generation that this script may have to create. */
    newGeneration: string;
    leaseMs: number;
    renewEveryMs: number;
  };

/** The keys of a cluster. The braces (a hash tag) keep them in one slot of a Redis Cluster. */
export function keysOf(clusterId: string): string[] {
  return ['state', 'members', 'counts', 'heard', 'gone', 'waiting', 'drains'].map((name) => `troupe:{${clusterId}}:${name}`);
}

const maxExpelled = 1_000;

const prelude = `
local ask = cjson.decode(ARGV[1])
local state, members, counts, renewedAt, expelled, waiting, drains = unpack(KEYS)

local function clockMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function tick()
  local nowMs = clockMs()
  local last = redis.call('HMGET', state, 'nowMs', 'servedMs')
  local servedMs = tonumber(last[2]) + math.max(0, math.min(nowMs - tonumber(last[1]), ask.renewEveryMs))
  redis.call('HSET', state, 'nowMs', nowMs, 'servedMs', servedMs)
  return servedMs
end

local function storeSettings()
  redis.call('HSET', state, 'shardCount', ask.shardCount, 'secretKeyDigest', ask.secretKeyDigest, 'network', ask.network)
end

local function accepts(digest)
  for _, accepted in ipairs(ask.acceptedDigests) do
    if digest == accepted then return true end
  end
  return digest == ask.secretKeyDigest
end

local function createGeneration(number)
  redis.call('DEL', members, counts, renewedAt, expelled, waiting, drains)
  redis.call('HSET', state, 'generation', ask.newGeneration, 'number', number, 'nowMs', clockMs(), 'servedMs', 0, 'size', 0)
  storeSettings()
end

local function isMember(incarnation)
  return redis.call('HEXISTS', members, incarnation) == 1
end

-- After every change of the members.
local function nextView()
  redis.call('HINCRBY', state, 'number', 1)
  redis.call('HSET', state, 'size', redis.call('HLEN', members))
end

-- If a part is lost, e.g. because Redis evicts keys, all data counts as lost: the members restore it.
local function dropIncompleteData()
  local size = tonumber(redis.call('HGET', state, 'size') or 0)
  if redis.call('HLEN', members) ~= size or redis.call('HLEN', counts) ~= size or redis.call('ZCARD', renewedAt) ~= size then
    redis.call('DEL', state)
  end
end

local function store(incarnation, record, count, servedMs)
  redis.call('HSET', members, incarnation, record)
  redis.call('HSET', counts, incarnation, count)
  redis.call('ZADD', renewedAt, servedMs, incarnation)
end

local function remove(incarnation, servedMs)
  redis.call('HDEL', members, incarnation)
  redis.call('HDEL', counts, incarnation)
  redis.call('HDEL', drains, incarnation)
  redis.call('ZREM', renewedAt, incarnation)
  redis.call('ZADD', expelled, servedMs, incarnation)
  redis.call('ZREMRANGEBYRANK', expelled, 0, -${maxExpelled + 1})
end

local function expireLeases(servedMs)
  local expired = redis.call('ZRANGEBYSCORE', renewedAt, '-inf', '(' .. (servedMs - ask.leaseMs))
  for _, incarnation in ipairs(expired) do remove(incarnation, servedMs) end
  if #expired > 0 then nextView() end
end

local function answer(status)
  local known = redis.call('HMGET', state, 'generation', 'number')
  local number = tonumber(known[2])
  local records = number ~= ask.number and redis.call('HVALS', members)
  return {status, known[1], number, records, redis.call('HGETALL', counts), redis.call('HEXISTS', drains, ask.incarnation)}
end
`;

/**
 * A member renews its lease and gets the current view. `data_lost`: Redis has less data than this member, which must restore it. `removed`:
 * it was expelled. A record that differs from the stored one replaces it, in a new view.
 */
const renew = `
dropIncompleteData()
local current = redis.call('HMGET', state, 'generation', 'number')
if current[1] ~= ask.generation or tonumber(current[2]) < ask.number then return {'data_lost'} end
local record = redis.call('HGET', members, ask.incarnation)
if not record then return {'removed'} end
local servedMs = tick()
store(ask.incarnation, ask.record, ask.count, servedMs)
if record ~= ask.record then nextView() end
expireLeases(servedMs)
return answer('member')
`;

/**
 * A member restores the view in a Redis that has lost a part of it. If another member was first, the members that only this one knows are
 * added for one lease; members that have not renewed by then have expired.
 */
const restore = `
dropIncompleteData()
local current = redis.call('HMGET', state, 'generation', 'number')
local number = tonumber(current[2] or 0)
local isSame = current[1] == ask.generation
local lost = not current[1] or (isSame and number < ask.number)
if lost then
  createGeneration(ask.number)
elseif not isSame and number <= ask.number then
  redis.call('HSET', state, 'number', ask.number + 1)
end
local servedMs = tick()
if servedMs < ask.leaseMs then
  local added = false
  for _, known in ipairs(ask.known) do
    if not isMember(known.incarnation) and not redis.call('ZSCORE', expelled, known.incarnation) then
      store(known.incarnation, known.record, known.count, servedMs)
      added = true
    end
  end
  if added then nextView() end
end
if not isMember(ask.incarnation) then return {'removed'} end
store(ask.incarnation, ask.record, ask.count, servedMs)
expireLeases(servedMs)
return answer('member')
`;

/** A node asks to become a member. Refused with the setting that differs; asked to retry if it cannot be decided yet. */
const register = `
dropIncompleteData()
if redis.call('HEXISTS', state, 'generation') == 0 then createGeneration(0) end
if tonumber(redis.call('HGET', state, 'number')) < ask.number then redis.call('HSET', state, 'number', ask.number) end
local servedMs = tick()
expireLeases(servedMs)
if isMember(ask.incarnation) then
  store(ask.incarnation, ask.record, ask.count, servedMs)
  return answer('member')
end
local others = redis.call('HVALS', members)
for _, record in ipairs(redis.call('HVALS', waiting)) do table.insert(others, record) end
local shared = redis.call('HMGET', state, 'shardCount', 'secretKeyDigest', 'network')
if #others == 0 then
  storeSettings()
elseif tonumber(shared[1]) ~= ask.shardCount or not accepts(shared[2]) or shared[3] ~= ask.network then
  return {'settings', tonumber(shared[1]), shared[2], shared[3]}
else
  storeSettings()
end
local self = cjson.decode(ask.record)
for _, record in ipairs(others) do
  local other = cjson.decode(record)
  if other.protocol.highest < self.protocol.lowest or other.protocol.lowest > self.protocol.highest then
    return {'protocol', other.name, other.protocol.lowest, other.protocol.highest}
  end
  if other.name == self.name and other.incarnation ~= self.incarnation and not other.leaving then
    local sinceRenewalMs = servedMs - (redis.call('ZSCORE', renewedAt, other.incarnation) or servedMs)
    if sinceRenewalMs < 2 * ask.renewEveryMs or other.host ~= self.host or other.port ~= self.port then
      return {'name_in_use', other.host, other.port, other.incarnation, tonumber(redis.call('HGET', counts, other.incarnation) or 0)}
    end
    remove(other.incarnation, servedMs)
    nextView()
  end
end
redis.call('HSET', waiting, self.name, ask.record)
-- A waiting node asks again; an abandoned list must not block other nodes.
redis.call('PEXPIRE', waiting, ask.leaseMs)
if servedMs < 4 * ask.renewEveryMs then return {'retry'} end
for _, record in ipairs(redis.call('HVALS', waiting)) do
  local incarnation = cjson.decode(record).incarnation
  redis.call('ZREM', expelled, incarnation)
  -- A first lease is twice as long: the first renewal follows only after this answer, for which a slow Redis needs seconds.
  store(incarnation, record, incarnation == ask.incarnation and ask.count or 0, servedMs + ask.leaseMs)
end
redis.call('DEL', waiting)
nextView()
return answer('member')
`;

/** A member expels another that is proven dead, unless that one has renewed since. `early`: too little time has passed since its last renewal. */
const expel = `
dropIncompleteData()
if redis.call('HGET', state, 'generation') ~= ask.generation or not isMember(ask.incarnation) then return {'data_lost'} end
if not isMember(ask.target) then return answer('removed') end
if tonumber(redis.call('HGET', counts, ask.target)) > ask.seen then return {'renewed'} end
local servedMs = tick()
local missingMs = 2 * ask.renewEveryMs - (servedMs - redis.call('ZSCORE', renewedAt, ask.target))
if missingMs > 0 then return {'early', missingMs} end
remove(ask.target, servedMs)
nextView()
return answer('removed')
`;

const leave = `
dropIncompleteData()
if redis.call('EXISTS', state) == 1 and isMember(ask.incarnation) then
  remove(ask.incarnation, tick())
  nextView()
end
return {'removed'}
`;

/** Asks the live node with that name to leave; the node sees the request with its next renewal. */
const drain = `
local names = {}
local asked = 'unknown'
for _, record in ipairs(redis.call('HVALS', members)) do
  local member = cjson.decode(record)
  table.insert(names, member.name)
  if member.name == ask.name then
    if not member.leaving then
      redis.call('HSET', drains, member.incarnation, 1)
      asked = 'asked'
    elseif asked == 'unknown' then
      asked = 'leaving'
    end
  end
end
return {asked, names}
`;

const read = `
local current = redis.call('HMGET', state, 'generation', 'number', 'servedMs')
return {current[1], tonumber(current[2] or 0), redis.call('HVALS', members), redis.call('HGETALL', counts),
  redis.call('ZRANGE', renewedAt, 0, -1, 'WITHSCORES'), tonumber(current[3] or 0), redis.call('HKEYS', drains)}
`;

export const numberOfKeys = keysOf('').length;

export const membershipScripts = Object.fromEntries(
  Object.entries({ renew, restore, register, expel, leave, drain, read }).map(([name, lua]) => [`troupe_${name}`, prelude + lua]),
);
