/** Lists of names, written as text. */

type WordIn<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | WordIn<Rest> : Text;

/** The words of lines, separated by single spaces. */
export const words = <const Lines extends readonly string[]>(
  ...lines: Lines
): readonly WordIn<Lines[number]>[] => lines.flatMap((line) => line.split(' ')) as WordIn<Lines[number]>[];
