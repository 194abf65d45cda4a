// SourceControl
