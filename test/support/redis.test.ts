import assert from 'node:assert/strict';
import test from 'node:test';
import { testRedis, withoutRedis } from './redis.ts';

test('the Redis of a test can be paused, emptied, killed and started again empty', { skip: withoutRedis }, async (t) => {
  const redis = await testRedis(t);
  await redis.client.set('a', '1');
  redis.pause();
  const answered = redis.client.get('a');
  redis.resume();
  assert.equal(await answered, '1');
  await redis.flush();
  assert.equal(await redis.client.get('a'), null);
  await redis.client.set('a', '2');
  await redis.kill();
  await redis.restart();
  assert.equal(await redis.client.get('a'), null);
});
