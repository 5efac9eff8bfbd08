export type Theme = 'light' | 'dark'

const key = 'theme'

/** Returns the theme that the visitor chose, or else the system's. */
export function readTheme(): Theme {
  const chosen = readChosen()
  if (chosen) return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

/**
 * Applies the theme that the visitor chose earlier. Call it before the first
 * render.
 */
export function applyTheme(): void {
  const chosen = readChosen()
  if (chosen) document.documentElement.dataset.theme = chosen
}

export function chooseTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
  try {
    localStorage.setItem(key, theme)
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
}

function readChosen(): Theme | undefined {
  try {
    const kept = localStorage.getItem(key)
    return kept === 'light' || kept === 'dark' ? kept : undefined
  } catch {
    return undefined
  }
}
