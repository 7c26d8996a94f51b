import assert from 'node:assert/strict';
import test from 'node:test';
import { ConfigError, loadConfig } from '../src/config.ts';
import { createScrubber, secretsOf } from '../src/log-secrets.ts';
import { parseRedisUrl, redisHost } from '../src/redis-url.ts';

const others = { DATABASE_URL: 'postgres://127.0.0.1/x', SECRET_KEY: 'x'.repeat(32) };
const nobody = { username: null, password: null };

test('a plain address of Redis is not changed', () => {
  for (const url of ['redis://127.0.0.1', 'rediss://u:p@redis.example.com:6380/3?family=6'])
    assert.deepEqual(parseRedisUrl(url), { kind: 'single', url });
});

test('Sentinels are hosts with commas between, then the name of their primary and perhaps a database; all is decoded', () => {
  assert.deepEqual(parseRedisUrl('redis+sentinel://h1,[fd00::7]:5000/mymaster'), {
    kind: 'sentinel',
    tls: false,
    ...nobody,
    hosts: [
      { host: 'h1', port: 26_379 },
      { host: 'fd00::7', port: 5_000 },
    ],
    primary: 'mymaster',
    db: 0,
    sentinelUsername: null,
    sentinelPassword: null,
  });
  assert.deepEqual(parseRedisUrl('rediss+sentinel://u:p%40%2F%3F@h1:1/a%20b/7?sentinel_username=s&sentinel_password=t%26'), {
    kind: 'sentinel',
    tls: true,
    username: 'u',
    password: 'p@/?',
    hosts: [{ host: 'h1', port: 1 }],
    primary: 'a b',
    db: 7,
    sentinelUsername: 's',
    sentinelPassword: 't&',
  });
});

test('a Redis Cluster is hosts with commas between', () => {
  const hosts = [
    { host: 'h1', port: 7_000 },
    { host: 'h2', port: 6_379 },
  ];
  assert.deepEqual(parseRedisUrl('redis+cluster://:p@h1:7000,h2'), { kind: 'cluster', tls: false, username: null, password: 'p', hosts });
  assert.deepEqual(parseRedisUrl('rediss+cluster://h1:7000,h2/0'), { kind: 'cluster', tls: true, ...nobody, hosts });
  assert.equal(redisHost(parseRedisUrl('redis+cluster://:p@h1:7000,[::1]')), 'h1:7000,[::1]:6379');
});

test('an unusable address is refused in one line with the reason, without the password', () => {
  const refusals: [string, RegExp][] = [
    ['http://h', /must be a redis:\/\/ URL, redis\+sentinel:/],
    ['redis+cluster:h1', /must be a redis:\/\/ URL/],
    ['redis://u:hunter22@h1:1,h2:2', /several hosts belong to/],
    ['redis+sentinel://u:hunter22@h1:26379', /comes the name by which Sentinels know/],
    ['redis+sentinel://u:hunter22@h1/mymaster/x', /comes the number of a database/],
    ['redis+sentinel://u:hunter22@h1/mymaster/0/0', /comes the name/],
    ['redis+sentinel://u:hunter22@h1/mymaster?password=hunter22', /only sentinel_username and sentinel_password/],
    ['redis+sentinel://u:hunter22@/mymaster', /HOST:PORT with commas/],
    ['redis+sentinel://u:hun/ter22@h1/mymaster', /HOST:PORT with commas/],
    ['redis+cluster://u:hunter22@h1,,h2', /HOST:PORT with commas/],
    ['redis+cluster://u:hunter22@h1:70000', /h1 has port 70000/],
    ['redis+cluster://u:hunter22@h1/1', /database 0 only/],
    ['redis+cluster://u:hunter22@h1?tls=1', /nothing may follow a \?/],
  ];
  for (const [REDIS_URL, why] of refusals) {
    assert.throws(
      () => loadConfig({ ...others, REDIS_URL }),
      (error) => {
        assert.ok(error instanceof ConfigError, String(error));
        assert.match(error.message, why, REDIS_URL);
        assert.match(error.message, /^REDIS_URL /);
        assert.doesNotMatch(error.message, /hunter22|ter22|\n/);
        return true;
      },
    );
  }
});

test('passwords for Redis and for its Sentinels stay out of logs, written and decoded', () => {
  const config = loadConfig({ ...others, REDIS_URL: 'redis+sentinel://u:first%40secret@h1/mymaster?sentinel_password=second-secret' });
  const scrub = createScrubber(secretsOf(config));
  for (const secret of ['first%40secret', 'first@secret', 'second-secret'])
    assert.doesNotMatch(scrub(JSON.stringify({ msg: `AUTH ${secret} refused` })), /secret refused/);
});
