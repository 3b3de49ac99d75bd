/** Notices for empty pages and errors: a sentence, and a way to continue. */
import type { ComponentChildren } from 'preact';
import { AnswerError, UnreachableError } from '@sandpit/client';
import { readable } from '../format.ts';
import { PageButton } from '../why/rule.tsx';
import { type RulePage, ruleOfCode } from '../why/rule-pages.ts';

export const UNREACHABLE = 'The server does not answer. Is it running?';
export const REFUSED =
  'The token is no longer valid: it expired, was revoked, or its simulation was deleted.';

/** An error in words for people. */
export function sentenceOf(error: Error): string {
  if (error instanceof UnreachableError) return UNREACHABLE;
  if (error instanceof AnswerError && error.status === 401) return REFUSED;
  if (error instanceof AnswerError && error.status === 429)
    return 'Too many requests this minute. Wait a moment and try again.';
  return readable(error.message);
}

export function Problem({
  error,
  retry,
}: {
  readonly error: Error;
  readonly retry?: (() => void) | undefined;
}) {
  return (
    <div class="notice problem" role="alert">
      <p>{sentenceOf(error)}</p>
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <div class="notice">{children}</div>;
}

/** The sentences of a refusal, with the page of its rule. */
export function Refusal({ error }: { readonly error: Error }) {
  const messages = error instanceof AnswerError ? error.messages : [sentenceOf(error)];
  const rule = error instanceof AnswerError ? ruleOfAnswer(error) : undefined;
  return (
    <div class="notice problem" role="alert">
      <ul class="plain">
        {messages.map((message) => (
          <li key={message}>{readable(message)}</li>
        ))}
      </ul>
      {rule !== undefined && <PageButton page={rule}>Why</PageButton>}
    </div>
  );
}

/** The page of the rule of an error code; undefined for errors without a code. */
function ruleOfAnswer({ body }: AnswerError): RulePage | undefined {
  const { error } = (body ?? {}) as { readonly error?: { readonly code?: string } | string };
  return typeof error === 'object' && error.code !== undefined ? ruleOfCode(error.code, error) : undefined;
}
