import { expect, it } from 'vitest';
import { networkOf } from './client-address.js';

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:1::5', '2001:db8:1:1'],
  ['2001:DB8:1:1:ffff:0:0:1', '2001:db8:1:1'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('the network of %s: %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
