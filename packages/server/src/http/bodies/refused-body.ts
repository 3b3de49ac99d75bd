import { type Answer, refuse, SERVICE_UNAVAILABLE } from '../answer.js';

/** A body that is refused before its route handles it. */
export class RefusedBody extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('refused body');
    this.answer = answer;
  }
}

export const INVALID_JSON = new RefusedBody(refuse(400, 'Body is not valid JSON'));
export const DEEP_JSON = new RefusedBody(refuse(400, 'Body must not be nested more than 64 levels deep'));
export const UNSUPPORTED_TYPE = new RefusedBody(refuse(415, 'Content-Type must be application/json'));
export const WRONG_LENGTH = new RefusedBody(refuse(400, 'Content-Length does not match the body'));
/** Bodies have no more memory. */
export const OUT_OF_ROOM = new RefusedBody(SERVICE_UNAVAILABLE);
export const INCOMPLETE = new RefusedBody(refuse(400, 'Malformed request'));
export const LONG_PART = new RefusedBody(
  refuse(413, 'Each element of a list, and the rest of the body, must not be larger than 256 KiB'),
);

export const tooLarge = (limit: string): RefusedBody =>
  new RefusedBody(refuse(413, `Body must not be larger than ${limit}`));
