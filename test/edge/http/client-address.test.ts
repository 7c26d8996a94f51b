import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { addressGroup, addressGroups, TrustedProxies } from '../../../src/edge/http/client-address.ts';

const forwarded = (...values: string[]) => values.flatMap((value) => ['x-forwarded-for', value]);

test('without configured proxies no header is trusted', () => {
  assert.equal(new TrustedProxies().clientOf('203.0.113.9', forwarded('198.51.100.1')), '203.0.113.9');
});

test('headers of trusted proxies are used up to the right-most address that is not a proxy', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8', 'fd00::/8', '192.0.2.7']);
  const cases: [string, string[], string][] = [
    ['10.0.0.1', ['198.51.100.1'], '198.51.100.1'],
    ['203.0.113.9', ['198.51.100.1'], '203.0.113.9'],
    ['10.0.0.1', ['6.6.6.6, 198.51.100.1, 10.9.9.9'], '198.51.100.1'],
    ['10.0.0.1', ['6.6.6.6', '198.51.100.1', '192.0.2.7'], '198.51.100.1'],
    ['10.0.0.1', ['10.0.0.2, 10.0.0.3'], '10.0.0.2'],
    ['10.0.0.1', [], '10.0.0.1'],
    ['0000:0000:0000:0000:0000:ffff:0a00:0001', ['::ffff:198.51.100.1'], '198.51.100.1'],
    ['fd00::1', ['[2001:db8::5]:4711'], '2001:db8::5'],
    ['10.0.0.1', ['198.51.100.1:443'], '198.51.100.1'],
  ];
  for (const [remote, header, client] of cases) assert.equal(proxies.clientOf(remote, forwarded(...header)), client, `${remote} ${header}`);
});

test('an invalid header is ignored, except for the addresses at its end', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8']);
  for (const header of ['', ',,,', 'unknown', 'evil, 999.1.1.1', '<script>', `${'1.2.3.4, '.repeat(5_000)}x`])
    assert.equal(proxies.clientOf('10.0.0.1', forwarded(header)), '10.0.0.1', header.slice(0, 20));
  const hops = Array.from({ length: 100 }, () => '10.1.1.1').join(', ');
  assert.equal(proxies.clientOf('10.0.0.1', forwarded(`6.6.6.6, ${hops}`)), '10.1.1.1');
  fc.assert(fc.property(fc.string(), (text) => typeof addressGroup(proxies.clientOf('10.0.0.1', forwarded(text)), 64) === 'string'));
});

test('addresses of one IPv6 network count as one, in every notation; each IPv4 address counts separately', () => {
  const full = '2001:0db8:0000:0001:0000:0000:0000:0001';
  for (const other of ['2001:db8:0:1::1', '2001:db8:0:1:ffff::', full]) assert.equal(addressGroup(other, 64), '2001:db8:0:1::/64', other);
  assert.equal(addressGroup('::1', 64), '0:0:0:0::/64');
  assert.notEqual(addressGroup('2001:db8:0:2::1', 64), addressGroup(full, 64));
  assert.equal(addressGroup('198.51.100.1', 64), '198.51.100.1');
});

test('an IPv6 address is counted with its /64 and its /48, an IPv4 address by itself', () => {
  assert.deepEqual(addressGroups('2001:db8:1:2:3:4:5:6'), ['2001:db8:1:2::/64', '2001:db8:1::/48']);
  assert.deepEqual(addressGroups('2001:db8:1::9'), ['2001:db8:1:0::/64', '2001:db8:1::/48']);
  assert.deepEqual(addressGroups('198.51.100.1'), ['198.51.100.1']);
});
