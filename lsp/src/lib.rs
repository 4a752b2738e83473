//! The language server: the findings of `cfgc check` in an editor.
