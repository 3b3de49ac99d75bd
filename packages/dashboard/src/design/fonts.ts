/** Inter, from this server, with figures of one width. Text is seen in the system's font until it has come. */
import inter from '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2?url';

const face = new FontFace('Inter Variable', `url(${inter}) format('woff2')`, {
  weight: '100 900',
  display: 'swap',
});
document.fonts.add(face);
