/** A short run of `npm run abuse`. */
import test from 'node:test';
import { abuse } from './run.ts';

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

test(`for any request to any endpoint, nothing fails, and no answer has data of another account (seed ${seed})`, {
  timeout: 240_000,
}, async (t) => {
  const { requests } = await abuse(t, { seed, requests: 1_000, minutes: 1 });
  t.diagnostic(`${requests} requests`);
});
