/** Execution models (D46); the orders of other market participants are not simulated. */
export type FillModel = 'ideal' | 'quote' | 'depth' | 'strict';
