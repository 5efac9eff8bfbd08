export type Theme = 'light' | 'dark'

const key = 'theme'

/** The theme that shows: the visitor's choice, else the system's. */
export function readTheme(): Theme {
  const chosen = readChosen()
  if (chosen) return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

/** Shows the visitor's earlier choice; call before the first render. */
export function applyTheme(): void {
  const chosen = readChosen()
  if (chosen) document.documentElement.dataset.theme = chosen
}

export function chooseTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
  try {
    localStorage.setItem(key, theme)
  } catch {
    // Where nothing can be kept, the choice lasts as long as the page.
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
