import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAddressPolicy } from '../../../src/providers/outbound/address-policy.ts';

const strict = createAddressPolicy([]);

describe('without OUTBOUND_ALLOW', () => {
  const refused = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::a00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2002:c0a8:101::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '4000::1',
    'localhost',
    '',
    '1.2.3',
    'not an address',
  ];
  for (const address of refused) {
    test(`${address || 'nothing'} is refused`, () => assert.equal(strict.permits(address), false));
  }
  for (const address of [
    '1.1.1.1',
    '93.184.215.14',
    '172.32.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::1',
  ]) {
    test(`${address} is permitted`, () => assert.equal(strict.permits(address), true));
  }
});

test('an allowed range permits exactly that range in every spelling', () => {
  const policy = createAddressPolicy(['127.0.0.0/8', 'fd00::/8', '10.0.0.7']);
  for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', 'fd12::1', '10.0.0.7', '1.1.1.1'])
    assert.equal(policy.permits(address), true, address);
  for (const address of ['10.0.0.8', '192.168.0.1', '::1', 'fc00::1', '169.254.169.254'])
    assert.equal(policy.permits(address), false, address);
});

test('an invalid range is named and prevents the start', () => {
  for (const text of ['localhost', '10.0.0.0/33', '10.0.0.0/', ''])
    assert.throws(() => createAddressPolicy([text]), /no address range/, text);
});
