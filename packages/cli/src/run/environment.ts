/** Environment of the command: the proxy, the certificate, credentials of Sandpit instead of a broker's. */
import { isBrokerCredential } from './broker-hosts.js';
import { hostOf } from './host-name.js';
import type { Login } from './logins.js';
import type { ServedBroker } from './served-brokers.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface RunAccess {
  readonly url: string;
  readonly token: string;
  readonly portfolioId: string;
  /** Opens the portfolio to clients that log in with a key and a secret. */
  readonly keyId: string;
  readonly secretKey: string;
  /** By the name of the broker. */
  readonly logins: ReadonlyMap<string, Login>;
}

export interface EnvironmentParts {
  readonly brokers: readonly ServedBroker[];
  readonly access: RunAccess;
  readonly proxyPort: number;
  /** File with the certificate, and with those of public authorities where the network is allowed. */
  readonly caFile: string;
  readonly preloadFile: string;
  /** Program that opens URLs for the command. */
  readonly browserFile: string;
  /** Present if the command runs on Java. */
  readonly javaStore?: { readonly path: string; readonly password: string };
}

const LOCAL = 'localhost,127.0.0.1,::1';

/** Variables that name a file of trusted authorities, to Python, curl, Node, Go, Deno and git. */
const CA_FILES = [
  'SSL_CERT_FILE',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'NODE_EXTRA_CA_CERTS',
  'HTTPLIB2_CA_CERTS',
  'WEBSOCKET_CLIENT_CA_BUNDLE',
  'DENO_CERT',
  'GIT_SSL_CAINFO',
];

/** The environment of the command, from that of this process. `removed`: the names of variables that it does not get. */
export function environmentOf(
  given: Environment,
  { brokers, access, proxyPort, caFile, preloadFile, browserFile, javaStore }: EnvironmentParts,
): { readonly environment: Environment; readonly removed: readonly string[] } {
  const proxy = `http://127.0.0.1:${proxyPort}`;
  const served = new Set(brokers.flatMap(({ hosts }) => hosts));
  const credentials = Object.fromEntries(
    brokers.flatMap(({ name: broker, variables }) => {
      const login = access.logins.get(broker);
      const values = {
        keys: access.keyId,
        secrets: access.secretKey,
        tokens: access.token,
        pairs: `${access.keyId}.${access.secretKey}`,
        accounts: login?.accountNumber,
        accountHashes: login?.accountHash,
        appKeys: access.keyId.padEnd(32, '0'),
        appSecrets: access.secretKey.padEnd(64, '0'),
        refreshTokens: login?.refreshToken,
      };
      const given = Object.entries(values).flatMap(([kind, value]) =>
        variables[kind as keyof typeof values].map((name) => [name, value] as const),
      );
      return [...given, ...Object.entries(variables.fixed ?? {})];
    }),
  );
  const isForeignUrl = (name: string, value: string): boolean =>
    brokers.some(({ variables }) => variables.urls.includes(name)) && !served.has(hostIn(value) ?? '');
  const removed = Object.entries(given).flatMap(([name, value]) =>
    (isBrokerCredential(name) && credentials[name] === undefined) || isForeignUrl(name, value ?? '')
      ? [name]
      : [],
  );
  const left = new Set([...removed, 'ALL_PROXY', 'all_proxy', 'SANDPIT_API_KEY']);
  const kept = Object.fromEntries(Object.entries(given).filter(([name]) => !left.has(name)));
  const preload = `--require=${quoted(preloadFile)}`;
  return {
    removed,
    environment: {
      ...kept,
      ...credentials,
      HTTPS_PROXY: proxy,
      https_proxy: proxy,
      HTTP_PROXY: proxy,
      http_proxy: proxy,
      NO_PROXY: LOCAL,
      no_proxy: LOCAL,
      ...Object.fromEntries(CA_FILES.map((name) => [name, caFile])),
      NODE_OPTIONS: [given['NODE_OPTIONS'], preload]
        .filter((one) => one !== undefined && one !== '')
        .join(' '),
      ...(javaStore !== undefined && {
        JAVA_TOOL_OPTIONS: [
          given['JAVA_TOOL_OPTIONS'],
          `-Dhttps.proxyHost=127.0.0.1`,
          `-Dhttps.proxyPort=${proxyPort}`,
          `-Dhttp.proxyHost=127.0.0.1`,
          `-Dhttp.proxyPort=${proxyPort}`,
          '-Dhttp.nonProxyHosts=localhost|127.*|[::1]',
          `-Djavax.net.ssl.trustStore=${quoted(javaStore.path)}`,
          '-Djavax.net.ssl.trustStoreType=PKCS12',
          `-Djavax.net.ssl.trustStorePassword=${javaStore.password}`,
        ]
          .filter((one) => one !== undefined && one !== '')
          .join(' '),
      }),
      // Python's standard library opens URLs with it.
      BROWSER: `"${process.execPath}" "${browserFile}" %s`,
      SANDPIT_URL: access.url,
      SANDPIT_TOKEN: access.token,
      SANDPIT_PORTFOLIO: access.portfolioId,
    },
  };
}

/** A path as options of Node and Java take it: a space separates options, a backslash escapes. */
const quoted = (path: string): string =>
  /[\s"\\]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&')}"` : path;

const hostIn = (text: string): string | undefined =>
  URL.canParse(text) ? hostOf(new URL(text).hostname) : undefined;
