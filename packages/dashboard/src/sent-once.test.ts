import { describe, expect, it } from 'vitest';
import { LatestChange } from './sent-once.ts';

/** Counts what is sent. `answer` settles the latest one. */
function changes() {
  const latest = new LatestChange();
  const sent: string[] = [];
  let settle: { answer: (value: string) => void; fail: (error: Error) => void } | undefined;
  return {
    sent,
    ask: (key: string, nowMs: number) =>
      latest.once(
        key,
        nowMs,
        () =>
          new Promise<string>((answer, fail) => {
            sent.push(key);
            settle = { answer, fail };
          }),
      ),
    answer: () => settle?.answer('done'),
    fail: () => settle?.fail(new Error('refused')),
  };
}

describe('A change of a page', () => {
  it('is sent once while its answer is awaited, and both callers get the answer', async () => {
    const { ask, answer, sent } = changes();
    const both = [ask('reset', 0), ask('reset', 5000)];
    answer();
    expect(await Promise.all(both)).toEqual(['done', 'done']);
    expect(sent).toEqual(['reset']);
  });

  it('is sent once by a double click, and again by a later click', async () => {
    const { ask, answer, sent } = changes();
    const first = ask('transfer', 0);
    answer();
    await first;
    await ask('transfer', 499);
    expect(sent).toEqual(['transfer']);
    void ask('transfer', 500);
    expect(sent).toEqual(['transfer', 'transfer']);
  });

  it('is sent again at once after a refusal', async () => {
    const { ask, fail, sent } = changes();
    const first = ask('transfer', 0);
    fail();
    await expect(first).rejects.toThrow('refused');
    void ask('transfer', 10);
    expect(sent).toEqual(['transfer', 'transfer']);
  });

  it('is sent when another change was sent in between', () => {
    const { ask, sent } = changes();
    void ask('bid 1', 0);
    void ask('bid 2', 10);
    void ask('bid 1', 20);
    expect(sent).toEqual(['bid 1', 'bid 2', 'bid 1']);
  });
});
