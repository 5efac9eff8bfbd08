/**
 * Returns the style sheet of a shop's colour. Text on it is black or white,
 * whichever is easier to read.
 */
export function themeCss(accent: string): string {
  return `:root{--accent:${accent};--on-accent:${contrastOf(accent)}}\n`
}

/** Returns the readable text colour on another colour. */
export function contrastOf(colour: string): '#000' | '#fff' {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  // Relative luminance as WCAG has it: above 0.179, black has more contrast.
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000' : '#fff'
}
