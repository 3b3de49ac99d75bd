/** The certificate authority of a run: it exists in memory, signs one certificate, and cannot sign for other hosts. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  GeneralNames,
  GeneralSubtree,
  GeneralSubtrees,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  NameConstraints,
  RelativeDistinguishedName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';

const COMMON_NAME = '2.5.4.3';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const LIFETIME_MS = 2 * 86_400_000;
/** Clocks of machines differ. */
const BACKDATED_MS = 3_600_000;

/** A certificate for a run's hosts, all PEM. */
export interface RunCertificate {
  /** Certificate of the authority that the command trusts, PEM. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Certifies the hosts, for two days. The key of the authority is forgotten at once: it signs nothing else. */
export function certify(hosts: readonly string[], now = Date.now()): RunCertificate {
  const authority = newKey();
  const server = newKey();
  const validity = new Validity({
    notBefore: new Date(now - BACKDATED_MS),
    notAfter: new Date(now - BACKDATED_MS + LIFETIME_MS),
  });
  const issuer = named('Sandpit run, simulated brokers');
  const ca = signed(authority.privateKey, {
    issuer,
    subject: issuer,
    validity,
    key: authority,
    extensions: [
      extension(id_ce_basicConstraints, new BasicConstraints({ cA: true, pathLenConstraint: 0 }), true),
      extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.keyCertSign), true),
      extension(id_ce_nameConstraints, onlyFor(hosts), true),
    ],
  });
  const cert = signed(authority.privateKey, {
    issuer,
    subject: named('Sandpit run'),
    validity,
    key: server,
    extensions: [
      extension(id_ce_basicConstraints, new BasicConstraints({ cA: false }), true),
      extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), true),
      extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth])),
      extension(id_ce_subjectAltName, new GeneralNames(hosts.map((dNSName) => new GeneralName({ dNSName })))),
      extension(
        id_ce_authorityKeyIdentifier,
        new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(authority.id) }),
      ),
    ],
  });
  return { ca, cert, key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
}

interface Key {
  readonly privateKey: KeyObject;
  /** DER. */
  readonly spki: Buffer;
  readonly id: Buffer;
}

function newKey(): Key {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return { privateKey, spki, id: createHash('sha1').update(spki).digest() };
}

const named = (commonName: string): Name =>
  new Name([
    new RelativeDistinguishedName([
      new AttributeTypeAndValue({
        type: COMMON_NAME,
        value: new AttributeValue({ utf8String: commonName }),
      }),
    ]),
  ]);

/** Constrains names of hosts to these, and excludes every IP address. */
const onlyFor = (hosts: readonly string[]): NameConstraints =>
  new NameConstraints({
    permittedSubtrees: new GeneralSubtrees(
      hosts.map((dNSName) => new GeneralSubtree({ base: new GeneralName({ dNSName }) })),
    ),
    excludedSubtrees: new GeneralSubtrees(
      ['0.0.0.0/0', '::/0'].map((iPAddress) => new GeneralSubtree({ base: new GeneralName({ iPAddress }) })),
    ),
  });

const extension = (extnID: string, value: object, critical = false): Extension =>
  new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });

interface Contents {
  readonly issuer: Name;
  readonly subject: Name;
  readonly validity: Validity;
  readonly key: Key;
  readonly extensions: readonly Extension[];
}

function signed(by: KeyObject, { issuer, subject, validity, key, extensions }: Contents): string {
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const serial = randomBytes(16);
  // Positive.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: new Uint8Array(serial).buffer,
    signature: algorithm,
    issuer,
    validity,
    subject,
    subjectPublicKeyInfo: AsnConvert.parse(key.spki, SubjectPublicKeyInfo),
    extensions: new Extensions([
      ...extensions,
      extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(key.id)),
    ]),
  });
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), by);
  const certificate = new Certificate({
    tbsCertificate,
    signatureAlgorithm: algorithm,
    signatureValue: new Uint8Array(signature).buffer,
  });
  const base64 = Buffer.from(AsnConvert.serialize(certificate)).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g)?.join('\n') ?? ''}\n-----END CERTIFICATE-----\n`;
}
