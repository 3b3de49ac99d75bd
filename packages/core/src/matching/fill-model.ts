/** How executions are assumed to happen (D46); there is no book of other people's orders. */
export type FillModel = 'ideal' | 'quote' | 'depth' | 'strict';
