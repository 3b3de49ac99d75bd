import { describe, expect, it } from 'vitest';
import { Addresses, AddressRefused, isPublicAddress, webhookUrlProblem } from './addresses.js';
import type { ResolvedAddress } from './addresses.js';

const PUBLIC = '93.184.215.14';

const addresses = (found: readonly string[] = [PUBLIC]): Addresses =>
  new Addresses({
    allowPrivate: false,
    ownPorts: () => [3000],
    nodeUrls: () => ['https://node-2.example.com', 'http://9.9.9.9:3000'],
    resolve: () =>
      Promise.resolve(
        found.map((address): ResolvedAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
  });

describe('isPublicAddress', () => {
  it.each([
    PUBLIC,
    '1.1.1.1',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.1',
    '223.255.255.255',
    '2606:2800:21f:cb07:6820:80da:af6b:8b2c',
    '::ffff:1.1.1.1',
    '64:ff9b::1.1.1.1',
    '2002:0101:0101::1',
  ])('takes %s', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::1.1.1.1',
    '100::1',
    'fc00::1',
    'fdff:ffff::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    '2002:0a00:0001::1',
    '3fff::1',
    '4000::1',
    'not an address',
    '',
  ])('refuses %s', (address) => expect(isPublicAddress(address)).toBe(false));
});

describe('Addresses', () => {
  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://127.0.0.1./',
    'http://①②⑦.0.0.1/',
    'http://0/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::10.0.0.1]/',
    'http://[fd00::1]/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://api.localhost/',
    'https://169.254.169.254/latest/meta-data/',
  ])('of: refuses %s', async (url) => {
    await expect(addresses().of(new URL(url))).rejects.toThrow(AddressRefused);
    await expect(addresses().check(new URL(url))).rejects.toThrow(AddressRefused);
  });

  it('of: refuses a name of which one address is not public', async () => {
    const url = new URL('https://hooks.example.com/');
    await expect(addresses([PUBLIC, '10.0.0.1']).of(url)).rejects.toThrow(AddressRefused);
    await expect(addresses([PUBLIC, '::1']).of(url)).rejects.toThrow(AddressRefused);
  });

  it('of: refuses the nodes of the cluster, by name and by address', async () => {
    const refused = (url: string, found?: readonly string[]) =>
      expect(addresses(found).of(new URL(url)), url).rejects.toThrow(AddressRefused);
    await refused('https://node-2.example.com/v1/orders');
    await refused('http://9.9.9.9:3000/');
    await refused('http://alias.example.com:3000/', ['9.9.9.9']);
    expect(await addresses(['9.9.9.9']).of(new URL('https://alias.example.com/'))).toHaveLength(1);
  });

  it('of: gives the addresses that were checked', async () => {
    const found = await addresses([PUBLIC, '2606:4700::1111']).of(new URL('https://hooks.example.com/'));
    expect(found.map(({ address }) => address)).toEqual([PUBLIC, '2606:4700::1111']);
  });

  it('check: accepts a name that cannot be resolved now', async () => {
    const unknown = new Addresses({
      allowPrivate: false,
      ownPorts: () => [],
      resolve: () => Promise.reject(new Error('no such name')),
    });
    await unknown.check(new URL('https://hooks.example.com/'));
    await expect(unknown.of(new URL('https://hooks.example.com/'))).rejects.toThrow('no such name');
  });

  it('of: accepts any address if private ones are allowed', async () => {
    const all = new Addresses({ allowPrivate: true, ownPorts: () => [] });
    expect(await all.of(new URL('http://127.0.0.1:8080/'))).toEqual([{ address: '127.0.0.1', family: 4 }]);
    expect(await all.of(new URL('http://[::1]:8080/'))).toEqual([{ address: '::1', family: 6 }]);
  });
});

describe('webhookUrlProblem', () => {
  it.each([
    'https://hooks.example.com/',
    'http://hooks.example.com:80/',
    'http://hooks.example.com:443/',
    'https://hooks.example.com:1024/a?b=c',
    'https://hooks.example.com:65535',
  ])('finds nothing in %s', (url) => expect(webhookUrlProblem(url)).toBeUndefined());

  it.each([
    ['ftp://hooks.example.com/', 'must be an http(s) URL'],
    ['https://', 'must be an absolute URL'],
    ['/hooks', 'must be an absolute URL'],
    ['https://me@hooks.example.com/', 'must not contain user information'],
    ['https://me:secret@hooks.example.com/', 'must not contain user information'],
    ['https://:secret@hooks.example.com/', 'must not contain user information'],
    ['http://hooks.example.com:22/', 'must have port 80, 443 or 1024 and up'],
    ['http://hooks.example.com:1023/', 'must have port 80, 443 or 1024 and up'],
    ['http://hooks.example.com:0/', 'must have port 80, 443 or 1024 and up'],
    ['http://hooks.example.com:70000/', 'must be an absolute URL'],
  ])('reports the problem of %s', (url, problem) => expect(webhookUrlProblem(url)).toBe(problem));
});
