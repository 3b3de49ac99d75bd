/** The form in which names that look alike are equal (D237): NFKC, without case, invisible characters and repeated spaces. */
export const foldedName = (name: string): string =>
  name
    .normalize('NFKC')
    // Both ways, which folds letters with several small forms, such as ß and ς.
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replace(/[\p{Default_Ignorable_Code_Point}\u2800]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim();
