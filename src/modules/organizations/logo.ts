/** Image formats without active content. SVG may contain scripts. */
export const LOGO_MEDIA_TYPES = ['image/png', 'image/jpeg', 'image/webp'] as const;
export type LogoMediaType = (typeof LOGO_MEDIA_TYPES)[number];

export const MAX_LOGO_BYTES = 262_144;

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/** Returns the media type of an image by its first bytes. */
export function mediaTypeOf(image: Buffer): LogoMediaType | undefined {
  if (startsWith(image, PNG)) return 'image/png';
  if (startsWith(image, JPEG)) return 'image/jpeg';
  const isWebP = image.toString('latin1', 0, 4) === 'RIFF' && image.toString('latin1', 8, 12) === 'WEBP';
  return isWebP ? 'image/webp' : undefined;
}

function startsWith(bytes: Buffer, beginning: Buffer): boolean {
  return bytes.subarray(0, beginning.length).equals(beginning);
}
