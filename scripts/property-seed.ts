import { configureGlobal } from 'fast-check';

/*
 * Property tests draw the same cases in every run, so that a run says something about the change at hand and nothing about luck.
 * `npm run soak` draws others: `SANDPIT_SEED=random`, or the number that a failure was printed with.
 */
const SEED = process.env['SANDPIT_SEED'] ?? '20260105';

if (SEED !== 'random') configureGlobal({ seed: Number(SEED) });
