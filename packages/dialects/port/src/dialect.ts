/** A dialect: its routes, its reading of requests, and its form of responses. */
import type { OperationId } from '@sandpit/protocol';
import type { Book, Desk } from './port.js';
import type { CallRefusal, Refused, Reply } from './refused.js';

/** Head of a request. */
export interface Head {
  readonly method: string;
  /** Path and query, behind the prefix. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** A credential of Sandpit, in the form in which a client sends it. */
export type Credential =
  | { readonly kind: 'KEY_PAIR'; readonly keyId: string; readonly secret: string }
  | { readonly kind: 'TOKEN'; readonly token: string }
  /** Used once, for the purpose that it was opened for. */
  | { readonly kind: 'SESSION'; readonly sessionId: string; readonly purpose: string }
  /** A signed text that represents a key pair until it expires. */
  | { readonly kind: 'GRANT'; readonly grant: string; readonly purpose: string }
  /** Names a key pair and proves nothing: it admits to nothing, and leads an open route to the node of the pair. */
  | { readonly kind: 'KEY_ID'; readonly keyId: string };

/** A signed text that represents a key pair. */
export interface Grant {
  readonly text: string;
  readonly keyId: string;
  /** Wall-clock ms. */
  readonly expiresAtMs: number;
}

/** Signs and reads texts that represent key pairs. All of a pair end with it. */
export interface Grants {
  /** True for the id of a valid pair. */
  isPair(keyId: string): boolean;
  isSecretOf(keyId: string, secret: string): boolean;
  /** Signs a text for a valid pair; restarts keep it. */
  sign(keyId: string, purpose: string, lifetimeMs: number): Grant | undefined;
  /** Undefined for a text that was altered, has expired, or is for another purpose. */
  read(text: string, purpose: string): Grant | undefined;
  /** Returns the id of a note that is taken once, within its lifetime and before a restart. */
  note(keyId: string, about: string, lifetimeMs: number): string;
  take(id: string): { readonly keyId: string; readonly about: string } | undefined;
}

/** A request to an open route, from anyone. */
export interface OpenCall {
  readonly head: Head;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly grants: Grants;
}

/** A route that needs no credential. Its requests are limited by address. */
export interface OpenRoute {
  readonly method: 'GET' | 'POST';
  /** Behind the prefix. */
  readonly path: string;
  readonly handle: (call: OpenCall) => Promise<Reply>;
}

/** Remaining requests of a caller. */
export interface Limits {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
  /** Wall-clock ms. */
  readonly nowMs: number;
}

/** A request to a route of a dialect, admitted. */
export interface DialectCall {
  readonly desk: Desk;
  /** The portfolio of a key pair; undefined for a token. */
  readonly book: Book | undefined;
  readonly head: Head;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  /** Returns the id of a session, with which the caller opens a stream without its credential. */
  readonly openSession: (purpose: string) => string;
  /** The refusal behind an error; undefined for an internal error. */
  readonly refusalOf: (error: unknown) => CallRefusal | undefined;
  /** Turns the connection into a stream. Throws when the tenant has too many. */
  readonly stream: (options?: StreamOptions) => OpenStream;
}

/** Portfolios that a credential may use, oldest first. */
export function booksOf({ desk, book }: Pick<DialectCall, 'desk' | 'book'>): readonly Book[] {
  if (book !== undefined) return [book];
  return desk.portfolios().flatMap(({ terms }) => desk.book(terms.portfolioId) ?? []);
}

export interface StreamOptions {
  /** Absent = server-sent events. */
  readonly contentType?: string;
  /** Sent at the interval of heartbeats. */
  readonly heartbeat?: () => string;
  /** Called at each heartbeat. */
  readonly onHeartbeat?: () => void;
}

/** A response that stays open. */
export interface OpenStream {
  readonly isOpen: boolean;
  /** Sends text. `id` names the position of the reader. */
  write(text: string, id?: string): void;
  /** Resolves when the reader accepts more, or has disconnected. */
  drained(): Promise<void>;
  /** Waits for the turn of the tenant. */
  inTurn<T>(step: () => Promise<T>): Promise<T>;
  finish(): void;
  onClose(listener: () => void): void;
}

/** The answer of a handler that has turned its connection into a stream. */
export const STREAMED = Symbol('streamed');

export interface DialectRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Behind the prefix; `::` is a colon of the path itself. */
  readonly path: string;
  readonly handle: (call: DialectCall) => Promise<Reply | typeof STREAMED>;
  /** Reads the credential from the fields of query and body, before the head is tried. */
  readonly credentialOfBody?: (
    head: Head,
    fields: Readonly<Record<string, unknown>>,
  ) => Credential | undefined;
}

/** Why the connection of a socket ends. */
export type SocketEnd = 'late' | 'unauthorized' | 'too-many' | 'unavailable';

/** A WebSocket that a client has opened. */
export interface Visit {
  readonly head: Head;
  onMessage(listener: (bytes: Uint8Array) => void): void;
  onClose(listener: () => void): void;
  /** Sends a message, unless its reader has stopped reading. */
  tell(message: string | Uint8Array): void;
  /** Sends the messages of events, as far as a fault of the stream lets these pass. */
  tellEvents<Item>(
    events: readonly Item[],
    messagesOf: (passed: readonly Item[]) => readonly (string | Uint8Array)[],
  ): void;
  close(code: number, reason: string): void;
  /** A login within ten seconds. `end` sends a last message and closes the connection; it is also called when the credential ends. */
  login(end: (why: SocketEnd) => void): SocketLogin;
}

export interface SocketLogin {
  readonly desk: Desk | undefined;
  /** The portfolio of a key pair. */
  readonly book: Book | undefined;
  /** True after a login that succeeded; false after `end`, or when another node serves the connection; undefined after an earlier login. */
  attempt(credential: Credential | undefined): Promise<boolean | undefined>;
  /** Lets a fault of the simulation strike the connection. Call it after the answer to the login. */
  strike(): void;
}

export interface DialectSocket {
  /** Behind the prefix, without a query. */
  readonly path: RegExp;
  /** True when the server speaks first: another node's greeting is not repeated. */
  readonly greets?: boolean;
  readonly visit: (visit: Visit) => void;
}

/** Why a connection to a port has no portfolio: unknown or closed, served by another node, too many connections, or not available now. */
export type PortRefusal = 'unknown' | 'elsewhere' | 'too-many' | 'unavailable';

/** A connection of plain bytes, to a port that belongs to one portfolio. */
export interface PortConnection {
  onBytes(listener: (bytes: Uint8Array) => void): void;
  onClose(listener: () => void): void;
  /** The portfolio, once its simulation is open. */
  open(): Promise<Book | PortRefusal>;
  /** Sends bytes, unless a fault of the stream holds these back. */
  write(bytes: Uint8Array): void;
  /** Counts a message of a kind; returns false beyond the rate limit of the tenant. */
  count(kind: string): boolean;
  /** Ends the connection after the bytes that were written. */
  end(): void;
  /** Reports an error that the client did not cause. */
  report(error: unknown): void;
}

/** Translations of a dialect that has all operations of `/v1` under its prefix. */
export interface Mirror {
  /** Reads a body; `/v1` validates the result. */
  readonly bodies: Readonly<Partial<Record<OperationId, (body: unknown) => unknown>>>;
  /** Extends a response. */
  readonly answers: Readonly<Partial<Record<OperationId, (body: never) => unknown>>>;
}

/** The manifest of a dialect. */
export interface Dialect {
  readonly name: string;
  /** Begins with a slash. */
  readonly prefix: string;
  /** A request to one of these hosts needs no prefix. */
  readonly hosts: readonly string[];
  readonly routes: readonly DialectRoute[];
  readonly openRoutes?: readonly OpenRoute[];
  /** Types of bodies. A body of any other type, or of none, is read as the first of them. */
  readonly bodies: readonly ('json' | 'form')[];
  readonly sockets: readonly DialectSocket[];
  /** Serves a connection of a protocol of plain bytes; absent = the dialect has none. */
  readonly listener?: (connection: PortConnection) => void;
  readonly credentialOf: (head: Head) => Credential | undefined;
  /** Names and values in turn. */
  readonly limitHeaders: (limits: Limits) => readonly string[];
  /** A refusal of the server, in the words of the dialect. */
  readonly refuse: (refusal: CallRefusal, head: Head) => Reply;
  /** A refusal by `/v1` that a handler did not translate. */
  readonly translate: (refused: Refused, head: Head) => Reply;
  /** A dialect of `/v1` itself has this instead of routes. */
  readonly mirror?: Mirror;
}
